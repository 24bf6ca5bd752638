#include <csignal>

#include "unit/cli/bisect_fixture.h"

namespace flopmark {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using BisectRefusals = BisectCommandTest;

/// Some parents leave it so, and then no exit code of a child can be learnt.
TEST_F(BisectRefusals, ABuildThatFailsIsSeenWhereTheParentIgnoresItsChildren) {
  commit_step("0.3");
  std::vector<std::string> words{"-c", "trap '' CHLD; exec \"$0\" \"$@\"", FLOPMARK_PROGRAM};
  const auto all = arguments();
  words.insert(words.end(), all.begin(), all.end());
  *std::find(words.begin(), words.end(), kBuild) = "exit 2";
  const auto result = testing::run_program("/bin/sh", options(words));
  EXPECT_EQ(result.exit_code, 125) << result.err << result.out;
  EXPECT_THAT(result.out, HasSubstr("ended with exit code 2"));
}

TEST_F(BisectRefusals, AWorkerIsOfNoUseWhereOneIsBuilt) {
  commit_step("0.3");
  EXPECT_THAT(error_of(arguments({"--worker", FLOPMARK_FAKE_WORKER})), HasSubstr("--worker has no use"));
}

TEST_F(BisectRefusals, AnInterruptionSaysHowToGoOn) {
  make_history();
  testing::RunningProgram program(FLOPMARK_PROGRAM, options(arguments()));
  ASSERT_TRUE(program.wait_for_error_text("to test at most"));
  ::kill(program.pid(), SIGINT);
  const auto stopped = program.wait();
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err << stopped.out;
  EXPECT_THAT(stopped.out, AllOf(HasSubstr("to go on:\n"), HasSubstr(" --resume\n")));
  EXPECT_THAT(output_of({"worktree", "list"}), Not(HasSubstr("bisect")));
  EXPECT_EQ(bisect({"--resume"}).exit_code, 0);
  EXPECT_EQ(culprit(), "c10");
}

TEST_F(BisectRefusals, OutOfTimeItTellsWhatIsLeft) {
  make_history();
  const auto result = bisect({"--budget", "0.5s"});
  EXPECT_EQ(result.exit_code, 125) << result.err << result.out;
  EXPECT_THAT(result.out, AllOf(HasSubstr("the time budget ended"), HasSubstr("candidate")));
}

/// A slowdown of far more than twice is not the last word of `--mid`, which stays below 1.
TEST_F(BisectRefusals, TheLineForGitIsOneThatAbTakes) {
  commit_step("3");
  ASSERT_EQ(bisect().exit_code, 0);
  const json whole = report();
  EXPECT_THAT(
      whole["commands"].back()["line"].get<std::string>(),
      AllOf(StartsWith("git bisect start "), HasSubstr(" && git bisect run flopmark ab tiny.json --a.ref "),
            HasSubstr(" --mid 0.99")));
}

TEST_F(BisectRefusals, EndsThatCannotBeAreRefused) {
  commit_step("0.3");
  const auto with_ends = [&](const std::string& good, const std::string& bad) {
    return error_of({"bisect", "tiny.json", "--good", good, "--bad", bad, "--build", "true"});
  };
  EXPECT_THAT(with_ends("v9", "main"), HasSubstr("--good v9: no such commit, branch or tag"));
  EXPECT_THAT(with_ends("good", std::string(40, 'a')), HasSubstr("--bad aaaaaaa"));
  EXPECT_THAT(with_ends("main", "good"), HasSubstr("exchange them"));
  EXPECT_THAT(with_ends("main", "HEAD"), HasSubstr("are the same commit"));
  git({"checkout", "-q", "--orphan", "other"});
  commit();
  EXPECT_THAT(with_ends("good", "other"), HasSubstr("no common history"));
}

TEST_F(BisectRefusals, TreesThatCannotBeBisectedAreRefused) {
  commit_step("0.3");
  const auto in = [&](const std::string& folder) {
    testing::ProgramOptions there = options(
        {"bisect", (work_ / "tiny.json").string(), "--good", "good", "--bad", "main", "--build", "true"});
    there.folder = folder_ / folder;
    return testing::run_program(FLOPMARK_PROGRAM, there);
  };
  std::filesystem::rename(work_ / ".git", folder_ / "bare.git");
  EXPECT_THAT(in("work").err, HasSubstr("no commits to build in"));
  git({"-C", (folder_ / "bare.git").string(), "config", "core.bare", "true"});
  EXPECT_EQ(in("bare.git").exit_code, 200);
  EXPECT_THAT(in("bare.git").err, HasSubstr("it is bare: bisect in a clone of it"));
  const std::string url = "file://" + (folder_ / "bare.git").string();
  git({"clone", "-q", "--depth", "1", url, (folder_ / "shallow").string()});
  EXPECT_THAT(in("shallow").err, HasSubstr("git fetch --unshallow"));
}

/// Another user's tree, and one that may be read only.
TEST_F(BisectRefusals, TreesOfOthersAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to be somebody else";
  commit_step("0.3");
  std::filesystem::permissions(folder_, std::filesystem::perms::all);
  std::filesystem::permissions(folder_ / "scratch", std::filesystem::perms::all);
  std::filesystem::create_directories(folder_ / "cache");
  std::filesystem::permissions(folder_ / "cache", std::filesystem::perms::all);
  testing::ProgramOptions stranger =
      options({"--reuid=65534", "--clear-groups", FLOPMARK_PROGRAM, "bisect", "tiny.json", "--good", "good",
               "--bad", "main", "--build", "true"});
  stranger.environment["FLOPMARK_CACHE"] = (folder_ / "cache").string();
  const auto dubious = testing::run_program("setpriv", stranger);
  EXPECT_EQ(dubious.exit_code, 200) << dubious.err;
  EXPECT_THAT(dubious.err, AllOf(HasSubstr("dubious ownership"), HasSubstr("--add safe.directory")));
  std::ofstream(folder_ / "trusting") << "[safe]\n\tdirectory = " << work_.string() << "\n";
  stranger.environment["GIT_CONFIG_GLOBAL"] = (folder_ / "trusting").string();
  stranger.environment["HOME"] = folder_.string();
  std::filesystem::copy_file(folder_ / "trusting", folder_ / ".gitconfig");
  const auto readable = testing::run_program("setpriv", stranger);
  EXPECT_EQ(readable.exit_code, 200) << readable.err;
  EXPECT_THAT(readable.err,
              AllOf(HasSubstr("cannot be written (Permission denied)"), HasSubstr("git clone")));
}

TEST_F(BisectRefusals, WrongUseIs200WithOneMessage) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--budget", "soon"}, "--budget soon: is no time above 0"},
      {{"--build-timeout", "0"}, "--build-timeout 0: is no time above 0"},
      {{"--cache-size", "lots"}, "--cache-size lots: is no size above 0, such as 500M or 10G"},
      {{"--cache-size", "5X"}, "--cache-size 5X: is no size"},
      {{"--artifact", "../x"}, "--artifact ../x: is relative to the top"},
      {{"--artifact", "x/"}, "--artifact x/: is relative to the top"},
      {{"--path", "../x"}, "--path ../x: does not lie in the tree"},
      {{"--set", "model.layerz=3"}, "model.layers"},
      {{"--set", "measure.loader=both"},
       "tiny.json: measure.loader is both, but flopmark bisect measures no second pass; set it to normal"},
      {{"--force"}, "--force has no use without --output"},
      {{"--format", "xml"}, "--format"},
      {{"--good", ""}, "--good"}};
  for (const auto& [more, text] : cases) {
    std::vector<std::string> words{"bisect", "tiny.json", "--bad", "main", "--build", "true"};
    if (more.front() != "--good") words.insert(words.end(), {"--good", "good"});
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_THAT(error_of(words), HasSubstr(text));
  }
  EXPECT_THAT(error_of({"bisect", "missing.json", "--good", "good", "--bad", "main", "--build", "true"}),
              HasSubstr("missing.json"));
}

}  // namespace
}  // namespace flopmark
