#include <csignal>

#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

/// Two fake workers taking turns: 0.2 s a step, unless a side's environment says otherwise.
class AbCommandTest : public CliTest {
 protected:
  testing::ProgramResult ab(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"ab", "tiny.json"};
    if (more.empty() || more.front() != "--seed") arguments.insert(arguments.end(), {"--seed", "1"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return flopmark(arguments);
  }
  /// A commit whose "build" writes a worker that takes `step_s` a step.
  void commit_worker(const std::string& step_s) const {
    write("worker.sh", "#!/bin/sh\nFAKE_STEP_S=" + step_s + " exec " FLOPMARK_FAKE_WORKER " \"$@\"\n");
    git({"add", "worker.sh"});
    git({"commit", "-q", "-m", "worker of " + step_s});
  }
};

TEST_F(AbCommandTest, VerdictsHaveTheirExitCodes) {
  const std::vector<std::tuple<std::string, std::string, int>> cases{
      {"0.22", "slower", 1}, {"0.2001", "same", 0}, {"0.18", "faster", 0}};
  for (const auto& [step_s, verdict, code] : cases) {
    const auto result = ab({"--b.env", "FAKE_STEP_S=" + step_s, "--quiet"});
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_THAT(result.out, HasSubstr("\n" + verdict + ": ")) << step_s;
    EXPECT_THAT(result.out, HasSubstr("12 pairs of at most 64, side by side"));
  }
}

TEST_F(AbCommandTest, JsonHasEveryPair) {
  const auto result =
      ab({"--b.env", "FAKE_STEP_S=0.22", "--format", "json", "--output", "pairs.json", "--max-pairs", "8"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("tiny: pair 1 of at most 8\n"));
  const json whole = json::parse(result.out);
  EXPECT_EQ(whole, read_json("pairs.json"));
  EXPECT_EQ(whole["schema"], "flopmark.paired/1");
  EXPECT_NEAR(whole["change_ratio"].get<double>(), 0.1, 1e-9);
  EXPECT_EQ(whole["pairs"].size(), 8u);
  EXPECT_EQ(whole["looks"], json({8}));
  EXPECT_EQ(whole["seed"], 1);
  EXPECT_EQ(whole["b"]["environment"]["FAKE_STEP_S"], "0.22");
  EXPECT_GT(whole["pairs"][0]["turns"], 0);
  EXPECT_THAT(whole["pairs"][0]["time"].get<std::string>(), MatchesRegex("20.*Z"));
  EXPECT_EQ(ab({"--output", "pairs.json"}).exit_code, 200);
}

TEST_F(AbCommandTest, SidesDifferBySettingsToo) {
  const auto result = ab({"--a.set", "data.batch_size=4", "--b.env", "FAKE_STEP_S=0.3", "--set",
                          "measure.steps=10", "--max-pairs", "8", "--format", "json"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const json whole = json::parse(result.out);
  EXPECT_EQ(whole["a"]["set"], json({"data.batch_size=4"}));
  EXPECT_EQ(whole["environment_differences"][0]["key"], "config.data.batch_size");
  EXPECT_EQ(whole["environment_differences"][0]["allowed"], true);
}

TEST_F(AbCommandTest, MidIsHalfTheLossLookedFor) {
  const auto below = ab({"--b.env", "FAKE_STEP_S=0.202", "--mid", "0.025"});
  EXPECT_EQ(below.exit_code, 0) << below.err;
  EXPECT_THAT(below.out, HasSubstr("judged against a change of +2.5 %"));
  EXPECT_EQ(ab({"--b.env", "FAKE_STEP_S=0.21", "--mid", "0.025"}).exit_code, 1);
}

TEST_F(AbCommandTest, ABudgetThatIsTooShortIsUnsure) {
  const auto result = ab({"--budget", "0.01s", "--quiet"});
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("unsure: the budget is used up; 1 pair is too few: the first look is at 12"));
}

TEST_F(AbCommandTest, SeveralConfigsAreJudgedTogether) {
  write("other.json", config());
  const auto result = flopmark({"ab", "tiny.json", "other.json", "--max-pairs", "8", "--b.env",
                                "FAKE_STEP_S=0.3", "--format", "json", "--quiet"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const json suite = json::parse(result.out);
  EXPECT_EQ(suite["schema"], "flopmark.paired_suite/1");
  EXPECT_EQ(suite["comparisons"][1]["name"], "other");
  EXPECT_EQ(flopmark({"ab", "tiny.json", "other.json", "--max-pairs", "8"}).exit_code, 0);
}

TEST_F(AbCommandTest, AFailingLaunchIs125WithItsSide) {
  const auto result = ab({"--b.env", "FAKE_TURNS=nan", "--quiet"});
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_THAT(result.out, HasSubstr("unsure: side b failed in pair 1: nan_loss: "));
}

/// Side by side both run out of memory; one after the other they do not.
TEST_F(AbCommandTest, OutOfMemorySideBySideTakesWholeLaunches) {
  const auto result = ab({"--a.env", "FAKE_TURNS=oom", "--b.env", "FAKE_STEP_S=0.3", "--quiet", "--max-pairs",
                          "8", "--format", "json"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const json whole = json::parse(result.out);
  EXPECT_EQ(whole["pairs"][0]["whole_launches"], true);
  EXPECT_NEAR(whole["change_ratio"].get<double>(), 0.5, 1e-9);
  EXPECT_THAT(whole["notes"].dump(), HasSubstr("whole launches in turn instead"));
}

TEST_F(AbCommandTest, AnInterruptionPrintsWhatWasMeasured) {
  testing::ProgramOptions slow =
      options({"ab", "tiny.json", "--b.env", "FAKE_STEP_S=0.21", "--max-pairs", "200"});
  testing::RunningProgram program(FLOPMARK_PROGRAM, slow);
  ASSERT_TRUE(program.wait_for_error_text("pair 1 of at most 200"));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ::kill(program.pid(), SIGINT);
  const auto result = program.wait();
  // On a fast machine the first look may have come before the signal.
  EXPECT_THAT(result.exit_code, ::testing::AnyOf(130, 1)) << result.err;
  EXPECT_THAT(result.out, ::testing::AnyOf(HasSubstr("interrupted"), HasSubstr("slower: ")));
}

TEST_F(AbCommandTest, CommitsAreBuiltOnceAndTheTreeIsLeftAlone) {
  make_repository();
  commit_worker("0.2");
  commit_worker("0.3");
  write("notes.txt", "mine");
  const std::string build =
      "echo built >> " + (folder_ / "builds").string() + "; cp worker.sh made; chmod +x made";
  const std::vector<std::string> arguments{"--a.ref", "HEAD~1",      "--build", build,    "--artifact",
                                           "made",    "--max-pairs", "8",       "--quiet"};
  const auto result = ab(arguments);
  EXPECT_EQ(result.exit_code, 1) << result.err << result.out;
  EXPECT_THAT(result.out, AllOf(HasSubstr("HEAD~1 ("), HasSubstr("with uncommitted changes), built")));
  EXPECT_EQ(ab(arguments).exit_code, 1);
  EXPECT_EQ(read(folder_ / "builds"), "built\nbuilt\n");
  EXPECT_EQ(read("notes.txt"), "mine");
  EXPECT_FALSE(std::filesystem::exists(work_ / "made"));
  // The other way round the checked-out tree is a, and faster than the new one is slower.
  EXPECT_EQ(ab({"--b.ref", "HEAD~1", "--build", build, "--artifact", "made", "--max-pairs", "8"}).exit_code,
            0);
}

TEST_F(AbCommandTest, AFailingBuildSkipsAndAnUnknownCommitStops) {
  make_repository();
  const auto failing = ab({"--a.ref", "HEAD", "--build", "echo no compiler; exit 1"});
  EXPECT_EQ(failing.exit_code, 125);
  EXPECT_THAT(failing.err, AllOf(HasSubstr("\n  no compiler"), HasSubstr("build.log")));
  EXPECT_EQ(failing.out, "");
  const auto unknown = ab({"--a.ref", "v9", "--build", "true"});
  EXPECT_EQ(unknown.exit_code, 200);
  EXPECT_THAT(unknown.err, HasSubstr("v9: no such commit, branch or tag in this repository"));
}

TEST_F(AbCommandTest, OutsideGitThereIsNothingToBuild) {
  const auto result = ab({"--a.ref", "HEAD", "--build", "true"});
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_THAT(result.err, HasSubstr("HEAD: commits can only be built in a Git tree"));
}

TEST_F(AbCommandTest, InsideABisectionItWarnsWithoutMid) {
  make_repository();
  git({"bisect", "start"});
  EXPECT_THAT(ab({"--max-pairs", "8"}).err, HasSubstr("inside git bisect without --mid"));
  EXPECT_THAT(ab({"--max-pairs", "12", "--mid", "0.02"}).err, Not(HasSubstr("git bisect")));
}

/// A bisection by git itself: the third of five commits made the worker slower.
TEST_F(AbCommandTest, GitBisectRunFindsTheCommit) {
  make_repository();
  int count = 0;
  for (const char* step_s : {"0.2", "0.2001", "0.3", "0.3", "0.3"}) {
    write("count.txt", std::to_string(++count));
    git({"add", "count.txt"});
    commit_worker(step_s);
  }
  git({"tag", "good", "HEAD~4"});
  git({"bisect", "start", "HEAD", "good"});
  git({"bisect", "run", FLOPMARK_PROGRAM, "ab", "tiny.json", "--a.ref", "good", "--build",
       "cp worker.sh made; chmod +x made", "--artifact", "made", "--mid", "0.1", "--quiet", "--max-pairs",
       "12"});
  const auto culprit = testing::run_program("git", options({"show", "refs/bisect/bad:count.txt"}));
  EXPECT_EQ(culprit.out, "3");
}

TEST_F(AbCommandTest, AWorkerThatIsBuiltCannotBeGivenToo) {
  make_repository();
  const auto result = ab({"--a.ref", "HEAD", "--build", "x", "--a.worker", FLOPMARK_FAKE_WORKER});
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_THAT(result.err, HasSubstr("--a.ref and --a.worker both say what side a is"));
}

TEST_F(AbCommandTest, AModelFileIsKnownByItsEndingInAnyCase) {
  make_repository();
  for (const std::string file : {"made.PT2", "made.Pt"}) {
    const auto result = ab({"--a.ref", "HEAD", "--build", "touch " + file, "--artifact", file});
    EXPECT_EQ(result.exit_code, 200);
    EXPECT_THAT(result.err, HasSubstr(file + ": is a model file, but tiny names none in its place"));
  }
}

/// A size limit stands for a full disk.
TEST_F(AbCommandTest, RoomIsNeededForTheSideOfMoreRanks) {
  const auto refusal = [&](const std::string& side) {
    const std::string command = "trap '' XFSZ; ulimit -f 8192; exec '" FLOPMARK_PROGRAM "' ab tiny.json --" +
                                side + ".set parallel.ranks=100 --allow environment.device_count --quiet";
    const auto result = testing::run_program("bash", options({"-c", command}));
    EXPECT_EQ(result.exit_code, 200) << side;
    return result.err;
  };
  EXPECT_THAT(refusal("a"), HasSubstr("bytes of samples"));
  EXPECT_EQ(refusal("a"), refusal("b"));
}

TEST_F(AbCommandTest, DifferentNumbersOfRanksAreRefusedBeforeAnythingIsMeasured) {
  testing::ProgramOptions other = options({"ab", "tiny.json", "--b.set", "parallel.ranks=2"});
  other.environment["FAKE_ARGUMENTS_FILE"] = (folder_ / "arguments").string();
  const auto result = testing::run_program(FLOPMARK_PROGRAM, other);
  EXPECT_EQ(result.exit_code, 201) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("tiny.json: parallel.ranks is 1 on side a and 2 on side b"),
                                HasSubstr("--set parallel.ranks=2"), HasSubstr("--scaling")));
  EXPECT_EQ(result.out, "");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "arguments")) << "a worker was started";
  other.arguments.insert(other.arguments.end(),
                         {"--allow", "environment.device_count", "--max-pairs", "8", "--seed", "1"});
  EXPECT_THAT(testing::run_program(FLOPMARK_PROGRAM, other).exit_code, ::testing::AnyOf(0, 1));
}

TEST_F(AbCommandTest, WrongUseIs200WithOneMessage) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--a.ref", "HEAD"}, "--a.ref HEAD needs --build CMD"},
      {{"--build", "make"}, "--build has no use without --a.ref or --b.ref"},
      {{"--artifact", "x"}, "--artifact has no use without --a.ref or --b.ref"},
      {{"--a.ref", "HEAD", "--build", "x", "--artifact", "../x"}, "--artifact ../x: is relative to the top"},
      {{"--mid", "2.5"}, "--mid 2.5: is a ratio, between -1 and 1: 0.025 is 2.5 %"},
      {{"--mid", "nan"}, "--mid: nan is no ratio"},
      {{"--mid", "2.5%"}, "--mid: 2.5% is no ratio: 0.025 is 2.5 %"},
      {{"--budget", "soon"}, "--budget soon: is no time above 0 and up to a year, such as 90s, 30m or 2h"},
      {{"--budget", "0"}, "--budget 0: is no time above 0"},
      {{"--budget", "-5m"}, "--budget -5m: is no time above 0"},
      {{"--budget", "5d"}, "--budget 5d: is no time above 0"},
      {{"--budget", "99999999999999999999h"}, "is no time above 0 and up to a year"},
      {{"tiny.json"}, "tiny.json: is named twice"},
      {{"--max-pairs", "7"}, "--max-pairs 7: from 8 (fewer pairs are never decisive"},
      {{"--max-pairs", "1000"}, "--max-pairs 1000: from 8"},
      {{"--max-pairs", "8", "--mid", "0.1"}, "--max-pairs 8: from 11"},
      {{"--a.env", "X"}, "--a.env X: is not NAME=VALUE"},
      {{"--b.env", "=1"}, "--b.env =1: is not NAME=VALUE"},
      {{"--force"}, "--force has no use without --output"},
      {{"--b.set", "model.layer=3"}, "--b.set \"model.layer=3\": "},
      {{"--a.worker", "/no/such"}, "/no/such"},
      {{"--format", "csv"}, "--format"},
      {{"--seed", "-1"}, "--seed: -1 is no whole number from 0 on, of 19 digits at most"},
      {{"--b.set", "measure.loader=both"}, "tiny.json: measure.loader is both, but flopmark ab measures no"},
      {{"--store", "nowhere"}, "--store nowhere: no such folder"}};
  for (const auto& [arguments, text] : cases) {
    const auto result = ab(arguments);
    EXPECT_EQ(result.exit_code, 200) << text << result.err;
    EXPECT_THAT(result.err, AllOf(StartsWith("flopmark: error: "), HasSubstr(text)));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
}

}  // namespace
}  // namespace flopmark
