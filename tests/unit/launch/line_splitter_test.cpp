#include "launch/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flopmark {
namespace {

using testing::ElementsAre;

TEST(LineSplitter, JoinsPiecesAndSplitsLines) {
  std::vector<std::string> lines;
  const auto take = [&lines](const std::string& line) { lines.push_back(line); };
  LineSplitter splitter(100);
  splitter.add("on", take);
  splitter.add("e\ntwo\n\nthr", take);
  EXPECT_THAT(lines, ElementsAre("one", "two", ""));
  splitter.finish(take);
  splitter.finish(take);
  EXPECT_THAT(lines, ElementsAre("one", "two", "", "thr"));
}

TEST(LineSplitter, CutsLongLines) {
  std::vector<std::string> lines;
  const auto take = [&lines](const std::string& line) { lines.push_back(line); };
  LineSplitter splitter(4);
  splitter.add("123", take);
  splitter.add("456", take);
  splitter.add("789\nab\n", take);
  EXPECT_THAT(lines, ElementsAre("1234", "ab"));
}

TEST(LogTail, KeepsTheLastPrintableLines) {
  LogTail log;
  for (int i = 1; i <= 30; ++i) log.add("line " + std::to_string(i) + "\n\n");
  log.add("\x1b[31mlast\x1b[0m");
  const auto lines = log.lines();
  ASSERT_EQ(lines.size(), 20U);
  EXPECT_EQ(lines.front(), "line 12");
  EXPECT_EQ(lines.back(), "last");
  EXPECT_EQ(log.lines(), lines);
}

TEST(LogTail, IsBounded) {
  LogTail log;
  for (int i = 0; i < 100; ++i) log.add(std::string(100000, 'x'));
  ASSERT_EQ(log.lines().size(), 1U);
  EXPECT_EQ(log.lines()[0].size(), LogTail::kLineBytes);
}

}  // namespace
}  // namespace flopmark
