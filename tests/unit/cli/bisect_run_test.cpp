// The exit codes as `git bisect run` itself reads them.
#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A repository of ten commits, c0 (tagged good, with its baseline) to c9. The fake worker takes as long as
/// the commit's file says: 0.2 s a step, from c6 on 0.3 s; it crashes at c4.
class BisectRunTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    write(".gitignore", "/results/\n/*.txt\n");
    write("speed.sh", speed("0.2", "ok"));
    git({"init", "-q", "-b", "main"});
    commit("c0");
    ASSERT_EQ(flopmark({"run", "tiny.json", "--quiet", "--save-baseline"}).exit_code, 0);
    commit("baseline");
    git({"tag", "good"});
    for (int i = 1; i < 10; ++i) {
      write("speed.sh", speed(i < 6 ? "0.2" : "0.3", i == 4 ? "crash" : "ok") + "# " + std::to_string(i));
      commit("c" + std::to_string(i));
    }
  }
  static std::string speed(const std::string& step_s, const std::string& mode) {
    return "export FAKE_STEP_S=" + step_s + " FAKE_WORKER=" + mode + "\n";
  }
  void commit(const std::string& subject) const {
    git({"add", "-A"});
    git({"commit", "-q", "-m", subject});
  }
  /// `git bisect run` of a command line, after good and bad are told.
  testing::ProgramResult bisect(const std::string& command, const std::string& bad = "main") const {
    git({"bisect", "start", bad, "good"});
    const std::string line = ". ./speed.sh; " + command;
    return testing::run_program("git", options({"bisect", "run", "sh", "-c", line}));
  }
  static std::string program() { return "'" FLOPMARK_PROGRAM "'"; }
};

TEST_F(BisectRunTest, CheckFindsTheSlowerCommit) {
  const auto result = bisect(program() + " check tiny.json --quiet --baseline good");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("is the first bad commit"));
  EXPECT_THAT(result.out, HasSubstr("\n    c6\n"));
}

TEST_F(BisectRunTest, RunAndCompareFindItToo) {
  const auto result =
      bisect(program() + " run tiny.json --quiet --output r.txt --force >/dev/null || exit $?; " + program() +
             " compare good:tiny r.txt");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("\n    c6\n"));
}

TEST_F(BisectRunTest, ACommitThatCrashesIsSkipped) {
  git({"bisect", "start", "main~4", "good"});  // c4 crashes, and nothing is slower up to c5
  const auto result = testing::run_program(
      "git", options({"bisect", "run", "sh", "-c",
                      ". ./speed.sh; " + program() + " check tiny.json --quiet --baseline good"}));
  EXPECT_THAT(result.out, HasSubstr("not judged: crash"));
  const std::string log = testing::run_program("git", options({"bisect", "log"})).out;
  EXPECT_THAT(log, HasSubstr("git bisect skip "));
  EXPECT_THAT(log, Not(HasSubstr("git bisect bad "))) << "no commit was called bad by the run";
}

TEST_F(BisectRunTest, WhatIsWrongWithTheCommandStopsIt) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {" check tiny.json --quiet", "every commit it checks out carries a baseline of its own"},
      {" check tiny.json --quiet --baseline good --no-such", "--no-such"},
      {" check tiny.json --quiet --baseline nowhere", "neither a file or baseline"},
      {" check tiny.json --quiet --baseline good --set model.layers=3", "config.model.layers"},
      {" check tiny.json --quiet --baseline good --set model.layerz=3", "model.layers"},
      {" compare good:tiny missing.json", "missing.json"}};
  for (const auto& [command, text] : cases) {
    const auto result = bisect(program() + command);
    EXPECT_NE(result.exit_code, 0) << command;
    EXPECT_THAT(result.out + result.err, HasSubstr(text));
    EXPECT_THAT(result.out, Not(HasSubstr("is the first bad commit"))) << command;
    EXPECT_THAT(result.out + result.err, HasSubstr("bisect run failed")) << command;
    git({"bisect", "reset"});
  }
}

}  // namespace
}  // namespace flopmark
