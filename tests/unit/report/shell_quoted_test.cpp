#include "report/shell_quoted.h"

#include <gtest/gtest.h>

#include "fakes/run_program.h"

namespace flopmark {
namespace {

TEST(ShellQuoted, LeavesPlainPathsAlone) {
  EXPECT_EQ(shell_quoted("results/quickstart/20261130T082511.999Z-1770-0230d94c2b1e.json"),
            "results/quickstart/20261130T082511.999Z-1770-0230d94c2b1e.json");
}

TEST(ShellQuoted, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(shell_quoted("my results/r.json"), "'my results/r.json'");
  EXPECT_EQ(shell_quoted("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_quoted("\xc3\xbc"), "'\xc3\xbc'");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("~x"), "'~x'");
  EXPECT_EQ(shell_quoted("-x y"), "'./-x y'");
  EXPECT_EQ(shell_quoted("a\x1b[1m'\n"), "$'a\\x1b[1m\\'\\x0a'");
  EXPECT_EQ(shell_quoted("\xff"), "$'\\xff'");
}

TEST(ShellQuoted, BashReadsTheWordBack) {
  for (const std::string word : {"plain", "my results", "it's", "$(exit 3) `x` \"y\" \\z !1 *", "a\tb\x1b[1m",
                                 "\xff\x80"
                                 "abc",
                                 "#x", "a;b|c&d>e"}) {
    testing::ProgramOptions options;
    options.arguments = {"--norc", "-c", "printf %s " + shell_quoted(word)};
    const auto result = testing::run_program("bash", options);
    EXPECT_EQ(result.out, word) << shell_quoted(word);
  }
}

}  // namespace
}  // namespace flopmark
