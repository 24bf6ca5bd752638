#include <csignal>

#include "unit/cli/bisect_fixture.h"

namespace flopmark {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(BisectCommandTest, FindsTheCommitAndLeavesTheTreeAlone) {
  make_history();
  write(".git/hooks/post-checkout", "#!/bin/sh\ntouch '" + (folder_ / "hooked").string() + "'\n");
  std::filesystem::permissions(work_ / ".git/hooks/post-checkout", std::filesystem::perms::owner_all);
  write("worker.sh", "changed by the user, and staged\n");
  git({"add", "worker.sh"});
  write("notes.txt", "mine");
  write("bisect.json", "");
  const std::string before = state();
  const auto result = bisect();
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_EQ(report()["outcome"], "confirmed");
  EXPECT_EQ(culprit(), "c10");
  EXPECT_NEAR(report()["change"]["change_ratio"].get<double>(), 0.5, 1e-6);
  EXPECT_EQ(state(), before);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "hooked"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("culprit"), HasSubstr(" c10\n"), HasSubstr("confirmed: "),
                                HasSubstr("flopmark ab tiny.json --a.ref ")));
}

TEST_F(BisectCommandTest, DocumentationIsBuiltAtMostAndNeverMeasured) {
  commit_step("0.3");
  for (int i = 0; i < 5; ++i) commit_docs();
  const auto result = bisect();
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_EQ(culprit(), "c1");
  EXPECT_FALSE(tested().empty());
  for (const auto& [subject, commit] : tested()) {
    if (subject == "c1") continue;
    EXPECT_TRUE(commit["same_as"].is_string()) << subject;
    EXPECT_TRUE(commit["evidence"].empty()) << subject;
  }
  EXPECT_THAT(result.err, Not(HasSubstr("leaves the old one")));
}

/// Public case A38: git names c4, which does not build, by a script that returns make's exit code.
TEST_F(BisectCommandTest, ACommitThatDoesNotBuildIsNotTheCulprit) {
  for (int i = 1; i < 8; ++i) i == 4 ? commit_unbuildable() : commit_step(i < 6 ? "0.2" : "0.4");
  const auto result = bisect({"--format", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_EQ(json::parse(result.out), report());
  EXPECT_EQ(culprit(), "c6");
}

TEST_F(BisectCommandTest, NextToSkippedCommitsItIsARange) {
  commit_step("0.2");
  commit_unbuildable();
  commit_step("0.2", "echo cannot load; exit 3\n");
  commit_step("0.3");
  const auto result = bisect({"--format", "markdown"});
  EXPECT_EQ(result.exit_code, 125) << result.err << result.out;
  EXPECT_THAT(result.out, AllOf(StartsWith("**range**"), HasSubstr("- candidate: "), HasSubstr("c2"),
                                HasSubstr("c3"), HasSubstr("c4")));
  EXPECT_EQ(report()["candidates"].size(), 3u);
  EXPECT_TRUE(report()["culprit"].is_null());
  EXPECT_THAT(result.err, AllOf(HasSubstr("\n  no compiler\n"), HasSubstr("does not say its version")));
  EXPECT_EQ(tested()["c2"]["state"], "skipped");
  EXPECT_EQ(tested()["c3"]["state"], "skipped");
}

TEST_F(BisectCommandTest, NoSlowdownIsNotReproduced) {
  commit_step("0.2");
  commit_step("0.2001");
  const auto result = bisect();
  EXPECT_EQ(result.exit_code, 204) << result.err << result.out;
  EXPECT_EQ(report()["outcome"], "not_reproduced");
  EXPECT_EQ(read(folder_ / "builds"), "x\nx\n") << "good and bad only";
}

TEST_F(BisectCommandTest, AnEndThatDoesNotBuildCannotBeJudged) {
  commit_step("0.2");
  commit_unbuildable();
  EXPECT_EQ(bisect().exit_code, 125);
  EXPECT_THAT(report()["bad_build"]["why_not"].get<std::string>(), HasSubstr("ended with exit code 2"));
}

/// A build whose result is kept from before: it succeeds, and leaves the old binary.
TEST_F(BisectCommandTest, ABuildThatLeavesTheOldBinaryIsWarnedAbout) {
  write("build.sh", "test -e made.kept || cp worker.sh made.kept; cp made.kept made; chmod +x made\n");
  write(".gitignore", "/made*\n/bisect.json\n");
  commit();
  git({"tag", "-f", "good"});
  commit_step("0.2");
  commit_step("0.3");
  const auto result = bisect();
  EXPECT_EQ(result.exit_code, 204) << result.err << result.out;
  EXPECT_THAT(result.err, AllOf(HasSubstr("makes the same bytes as"), HasSubstr("worker.sh differs"),
                                HasSubstr("the build leaves the old one")));
}

TEST_F(BisectCommandTest, ABuildThatHangsIsStopped) {
  commit_step("0.2");
  commit_unbuildable("sleep 1000 & echo $! > \"$HOME/child\"; wait\n");
  commit_step("0.3");
  const auto result = bisect({"--build-timeout", "2s"});
  EXPECT_EQ(result.exit_code, 125) << result.err << result.out;
  EXPECT_THAT(
      tested()["c2"]["reason"].get<std::string>() + tested()["c2"]["build"]["why_not"].get<std::string>(),
      HasSubstr("was stopped after 2 s"));
  std::string child = read(folder_ / "child");
  child.pop_back();
  EXPECT_THAT(read("/proc/" + child + "/stat"), ::testing::AnyOf("", HasSubstr(") Z ")));
}

TEST_F(BisectCommandTest, MergesAreSearchedAsGitDoes) {
  commit_step("0.2");
  git({"checkout", "-q", "-b", "side", "good"});
  write("side.txt", "1");
  commit();
  write("build.sh", "sed 's/0[.]2 /0.3 /' worker.sh > made; chmod +x made\n");
  commit();  // c3, the culprit
  write("side.txt", "2");
  commit();
  git({"checkout", "-q", "main"});
  commit_docs();
  git({"merge", "-q", "--no-ff", "-m", "merge side", "side"});
  commit_docs();
  EXPECT_EQ(bisect().exit_code, 0);
  EXPECT_EQ(culprit(), "c3");
  EXPECT_EQ(bisect({"--first-parent"}).exit_code, 0);
  EXPECT_EQ(culprit(), "merge side");
  EXPECT_EQ(bisect({"--path", "build.sh"}).exit_code, 0);
  EXPECT_EQ(culprit(), "c3");
  EXPECT_EQ(report()["commits"], 1);
  EXPECT_EQ(bisect({"--path", "worker.sh"}).exit_code, 204);
}

TEST_F(BisectCommandTest, MoreThanOneStepOffersTheOtherHalf) {
  for (const char* step_s : {"0.2", "0.25", "0.25", "0.25", "0.25", "0.4", "0.4", "0.4"}) commit_step(step_s);
  const auto result = bisect();
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_EQ(culprit(), "c6");
  EXPECT_THAT(result.out, AllOf(HasSubstr("the other half:\n  flopmark bisect tiny.json --good "),
                                HasSubstr("there is more than one step")));
}

/// Public case A40: the library is a submodule, whose third commit is the slow one.
TEST_F(BisectCommandTest, SubmodulesFollow) {
  const std::filesystem::path library = folder_ / "library";
  const auto commit_library = [&](const std::string& step_s) {
    std::filesystem::create_directories(library);
    std::ofstream(library / "step") << "FAKE_STEP_S=" << step_s << " exec " FLOPMARK_FAKE_WORKER " \"$@\"\n";
    if (!std::filesystem::exists(library / ".git")) git({"init", "-q", "-b", "main", library.string()});
    git({"-C", library.string(), "add", "-A"});
    git({"-C", library.string(), "commit", "-q", "--allow-empty", "-m", "step " + step_s});
  };
  const auto take_library = [&] {
    git({"-C", "lib", "-c", "protocol.file.allow=always", "pull", "-q", "origin", "main"});
    commit();
  };
  commit_library("0.2");
  git({"-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.string(), "lib"});
  write("build.sh", "(echo '#!/bin/sh'; cat lib/step) > made; chmod +x made\n");
  commit();
  git({"tag", "-f", "good"});
  for (const char* step_s : {"0.2", "0.3", "0.3"}) {
    commit_library(step_s);
    take_library();
  }
  write("bisect.json", "");
  const std::string before = state();
  const auto result = bisect();
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_EQ(culprit(), "c3");
  EXPECT_EQ(state(), before);
}

TEST_F(BisectCommandTest, TheConfigIsThatOfTheStart) {
  git({"rm", "-q", "--cached", "tiny.json"});
  std::filesystem::remove(work_ / "tiny.json");
  commit();
  git({"tag", "-f", "good"});
  commit_step("0.3");
  write("tiny.json", config());
  commit();
  EXPECT_EQ(bisect().exit_code, 0);
  EXPECT_EQ(culprit(), "c2");
}

/// The lines of the report, as they are printed.
TEST_F(BisectCommandTest, GitBisectRunGivesTheSameAnswer) {
  make_history();
  ASSERT_EQ(bisect().exit_code, 0);
  ASSERT_EQ(culprit(), "c10");
  std::string line;
  const json whole = report();
  for (const json& command : whole["commands"]) {
    const std::string each = command["line"];
    if (each.starts_with("git bisect start ")) line = each;
  }
  ASSERT_NE(line, "");
  testing::ProgramOptions shell = options({"-c", line + " --quiet"});
  shell.environment["PATH"] =
      std::filesystem::path(FLOPMARK_PROGRAM).parent_path().string() + ":" + std::getenv("PATH");
  const auto result = testing::run_program("/bin/sh", shell);
  EXPECT_EQ(result.exit_code, 0) << line << result.out << result.err;
  EXPECT_EQ(output_of({"log", "-1", "--format=%s", "refs/bisect/bad"}), "c10\n");
}

TEST_F(BisectCommandTest, AKilledOneGoesOnAndLosesNoBuild) {
  make_history();
  testing::RunningProgram program(FLOPMARK_PROGRAM, options(arguments()));
  ASSERT_TRUE(program.wait_for_error_text("to test at most"));
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  ::kill(program.pid(), SIGKILL);
  EXPECT_EQ(program.wait().signal, SIGKILL);
  const auto builds = [&] { return read(folder_ / "builds").size() / 2; };
  const size_t begun = builds();
  const auto result = bisect({"--resume"});
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_EQ(culprit(), "c10");
  const size_t tested_commits = report()["tested"].size();
  // The parent of the culprit may not have been tested; one build may have been killed.
  EXPECT_LE(builds(), 2 + tested_commits + 1 + 1) << begun << " before it was killed";
  EXPECT_THAT(output_of({"worktree", "list"}), Not(HasSubstr("/tree")));
  std::filesystem::remove_all(folder_ / "scratch");  // what the killed one left is not looked at here
  std::filesystem::create_directories(folder_ / "scratch");
}

TEST_F(BisectCommandTest, ResumeNeedsTheSameBisection) {
  commit_step("0.2");
  commit_step("0.3");
  EXPECT_THAT(error_of(arguments({"--resume"})), HasSubstr("flopmark: error: "));
  ASSERT_EQ(bisect().exit_code, 0);
  EXPECT_EQ(bisect({"--resume"}).exit_code, 0);
  EXPECT_THAT(error_of(arguments({"--resume", "--set", "measure.steps=10"})), HasSubstr("config"));
}

TEST_F(BisectCommandTest, AnotherSearchDoesNotTakeTheJournal) {
  commit_step("0.2");
  commit_step("0.3");
  ASSERT_EQ(bisect().exit_code, 0);
  const json measured = report()["ends"];
  ASSERT_EQ(bisect({"--set", "measure.steps=10"}).exit_code, 0);
  testing::ProgramOptions counted = options(arguments({"--resume"}));
  counted.environment["FAKE_TURNS"] = "crash";  // nothing is measured again
  EXPECT_EQ(testing::run_program(FLOPMARK_PROGRAM, counted).exit_code, 0);
  EXPECT_EQ(report()["ends"], measured);
}

}  // namespace
}  // namespace flopmark
