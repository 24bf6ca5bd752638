#include "report/confirm_line.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

RunRecord record(const std::string& commit, bool dirty, std::vector<std::string> command_line = {}) {
  RunRecord made;
  made.name = "quickstart";
  made.command_line = std::move(command_line);
  if (!commit.empty()) made.subject.commit = std::string(40, commit.front());
  made.subject.dirty = dirty;
  return made;
}

const std::vector<std::string> kRun{"flopmark", "run",      "configs/quickstart.json",
                                    "--quiet",  "--output", "r.json"};

TEST(ConfirmLine, NamesConfigAndCommits) {
  EXPECT_EQ(confirm_line(record("1", false), record("2", false, kRun)),
            "flopmark ab configs/quickstart.json --a.ref 1111111111 --b.ref 2222222222 --build CMD");
  EXPECT_EQ(confirm_line(record("1", false), record("2", true, kRun)),
            "flopmark ab configs/quickstart.json --a.ref 1111111111 --build CMD");
}

TEST(ConfirmLine, WorkersWhereCommitsDoNotTellThemApart) {
  for (const RunRecord& a : {record("", false), record("1", true), record("2", false)}) {
    EXPECT_EQ(confirm_line(a, record("2", false, kRun)),
              "flopmark ab configs/quickstart.json --a.worker OLD --b.worker NEW");
  }
}

TEST(ConfirmLine, KeepsSettingsAndQuotes) {
  const std::vector<std::string> run{"./flopmark",          "run",      "--set",
                                     "data.path=my corpus", "a.json",   "x;rm.json",
                                     "--set=train.seed=3",  "--worker", "w.json"};
  RunRecord b = record("2", false, run);
  b.name = "x;rm";
  EXPECT_EQ(
      confirm_line(record("1", false), b),
      "flopmark ab 'x;rm.json' --set 'data.path=my corpus' --set train.seed=3 --a.ref 1111111111 --b.ref "
      "2222222222 --build CMD");
}

TEST(ConfirmLine, LeavesOutTheSecondPass) {
  RunRecord b = record("2", false, {"flopmark", "run", "a.json", "--set", "measure.loader=both"});
  b.config = {{"measure", {{"loader", "both"}}}};
  EXPECT_EQ(
      confirm_line(record("", false), b),
      "flopmark ab a.json --set measure.loader=both --set measure.loader=normal --a.worker OLD --b.worker "
      "NEW");
  b.config = {{"measure", {{"loader", "normal"}}}};
  EXPECT_EQ(confirm_line(record("", false), b),
            "flopmark ab a.json --set measure.loader=both --a.worker OLD --b.worker NEW");
}

TEST(ConfirmLine, AConfigThatIsNotToldIsForTheReader) {
  const std::vector<std::string> two{"flopmark", "run", "a.json", "b.json"};
  EXPECT_EQ(confirm_line(record("1", false), record("2", false, two)).substr(0, 18), "flopmark ab CONFIG");
  EXPECT_EQ(confirm_line(record("1", false), record("2", false)).substr(0, 18), "flopmark ab CONFIG");
}

}  // namespace
}  // namespace flopmark
