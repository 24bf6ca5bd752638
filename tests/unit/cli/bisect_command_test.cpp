#include <csignal>

#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A repository whose "build" copies a worker that takes as long as the commit says. Commits are c0 (tagged
/// good), c1, ...; the fake worker makes its times up, so that no noise of the machine gets into a verdict.
class BisectCommandTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    write(".gitignore", "/made\n/bisect.json\n");
    git({"init", "-q", "-b", "main"});
    write("build.sh", "cp worker.sh made; chmod +x made\n");
    commit_step("0.2");
    git({"tag", "good"});
  }
  void commit() const {
    const std::string name = "c" + std::to_string(count_++);
    git({"add", "-A"});
    git({"commit", "-q", "--allow-empty", "-m", name});
  }
  void commit_step(const std::string& step_s, const std::string& more = "") const {
    write("worker.sh", "#!/bin/sh\n# " + std::to_string(count_) + "\n" + more + "FAKE_STEP_S=" + step_s +
                           " exec " FLOPMARK_FAKE_WORKER " \"$@\"\n");
    commit();
  }
  void commit_docs() const {
    write("readme.md", std::to_string(count_));
    commit();
  }
  void commit_unbuildable(const std::string& how = "echo no compiler >&2; exit 2\n") const {
    const std::string works = read("build.sh");
    write("build.sh", how);
    commit();
    write("build.sh", works);
  }
  /// 16 commits: slower from c10 on; c3 and c11 are documentation, c6 does not build, c8 crashes.
  void make_history() const {
    for (int i = 1; i < 16; ++i) {
      if (i == 3 || i == 11) {
        commit_docs();
      } else if (i == 6) {
        commit_unbuildable();
      } else {
        commit_step(i < 10 ? "0.2" : "0.3", i == 8 ? "export FAKE_TURNS=crash\n" : "");
      }
    }
  }

  static std::vector<std::string> arguments(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"bisect",     "tiny.json", "--good",   "good",        "--bad",
                                   "main",       "--build",   kBuild,     "--seed",      "1",
                                   "--artifact", "made",      "--output", "bisect.json", "--force"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  testing::ProgramResult bisect(const std::vector<std::string>& more = {}) const {
    return flopmark(arguments(more));
  }
  json report() const { return read_json("bisect.json"); }
  std::string culprit() const { return report()["culprit"].is_null() ? "" : report()["culprit"]["subject"]; }
  std::string output_of(const std::vector<std::string>& words) const {
    return testing::run_program("git", options(words)).out;
  }
  /// Everything of the user's that a bisection must leave as it is.
  std::string state() const {
    return output_of({"status", "--porcelain=v2", "--branch", "--ignored"}) + output_of({"for-each-ref"}) +
           output_of({"worktree", "list"}) + output_of({"bisect", "log"}) + read(".git/config") +
           read(".git/index") + read("worker.sh");
  }
  /// Every tested commit by subject.
  std::map<std::string, json> tested() const {
    std::map<std::string, json> all;
    const json whole = report();
    for (const json& each : whole["tested"]) all[each["subject"]] = each;
    return all;
  }
  std::string error_of(const std::vector<std::string>& words) const {
    const auto result = flopmark(words);
    EXPECT_EQ(result.exit_code, 200) << result.err;
    EXPECT_EQ(result.out, "");
    return result.err;
  }

  static constexpr const char* kBuild = "echo x >> \"$HOME/builds\"; sh build.sh";
  mutable int count_ = 0;
};

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

/// Some parents leave it so, and then no exit code of a child can be learnt.
TEST_F(BisectCommandTest, ABuildThatFailsIsSeenWhereTheParentIgnoresItsChildren) {
  commit_step("0.3");
  std::vector<std::string> words{"-c", "trap '' CHLD; exec \"$0\" \"$@\"", FLOPMARK_PROGRAM};
  const auto all = arguments();
  words.insert(words.end(), all.begin(), all.end());
  *std::find(words.begin(), words.end(), kBuild) = "exit 2";
  const auto result = testing::run_program("/bin/sh", options(words));
  EXPECT_EQ(result.exit_code, 125) << result.err << result.out;
  EXPECT_THAT(result.out, HasSubstr("ended with exit code 2"));
}

TEST_F(BisectCommandTest, AWorkerIsOfNoUseWhereOneIsBuilt) {
  commit_step("0.3");
  EXPECT_THAT(error_of(arguments({"--worker", FLOPMARK_FAKE_WORKER})), HasSubstr("--worker has no use"));
}

TEST_F(BisectCommandTest, AnInterruptionSaysHowToGoOn) {
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

TEST_F(BisectCommandTest, OutOfTimeItTellsWhatIsLeft) {
  make_history();
  const auto result = bisect({"--budget", "0.5s"});
  EXPECT_EQ(result.exit_code, 125) << result.err << result.out;
  EXPECT_THAT(result.out, AllOf(HasSubstr("the time budget ended"), HasSubstr("candidate")));
}

/// A slowdown of far more than twice is not the last word of `--mid`, which stays below 1.
TEST_F(BisectCommandTest, TheLineForGitIsOneThatAbTakes) {
  commit_step("3");
  ASSERT_EQ(bisect().exit_code, 0);
  const json whole = report();
  EXPECT_THAT(
      whole["commands"].back()["line"].get<std::string>(),
      AllOf(StartsWith("git bisect start "), HasSubstr(" && git bisect run flopmark ab tiny.json --a.ref "),
            HasSubstr(" --mid 0.99")));
}

TEST_F(BisectCommandTest, EndsThatCannotBeAreRefused) {
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

TEST_F(BisectCommandTest, TreesThatCannotBeBisectedAreRefused) {
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
TEST_F(BisectCommandTest, TreesOfOthersAreRefused) {
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

TEST_F(BisectCommandTest, WrongUseIs200WithOneMessage) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--budget", "soon"}, "--budget soon: is no time above 0"},
      {{"--build-timeout", "0"}, "--build-timeout 0: is no time above 0"},
      {{"--cache-size", "lots"}, "--cache-size lots: is no size above 0, such as 500M or 10G"},
      {{"--cache-size", "5X"}, "--cache-size 5X: is no size"},
      {{"--artifact", "../x"}, "--artifact ../x: is relative to the top"},
      {{"--artifact", "x/"}, "--artifact x/: is relative to the top"},
      {{"--path", "../x"}, "--path ../x: does not lie in the tree"},
      {{"--set", "model.layerz=3"}, "model.layers"},
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
