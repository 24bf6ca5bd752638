#include "cli/run_command.h"

#include "fakes/golden.h"
#include "hardware/environment.h"
#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RunCommandTest : public CliTest {
 protected:
  void expect_refused(const std::vector<std::string>& arguments, const std::string& text) const {
    const auto result = flopmark(arguments);
    EXPECT_EQ(result.exit_code, 200) << text;
    EXPECT_EQ(result.out, "") << text;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_THAT(files("results"), IsEmpty()) << text;
  }
};

TEST_F(RunCommandTest, MeasuresExactlyWhatTheWorkerSays) {
  const auto result = flopmark({"run", "tiny.json", "--quiet"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const nlohmann::json record = only_record();
  EXPECT_EQ(record.at("status"), "ok");
  EXPECT_EQ(record.at("name"), "tiny");
  const nlohmann::json& metrics = record.at("metrics");
  EXPECT_NEAR(metrics.at("step_s").at("median").get<double>(), 0.2, 1e-12);
  EXPECT_NEAR(metrics.at("samples_per_s").get<double>(), 10, 1e-9);
  EXPECT_NEAR(metrics.at("tokens_per_s").get<double>(), 320, 1e-9);
  EXPECT_NEAR(metrics.at("model_flop_per_s").get<double>(), 224133120, 1e-3);
  EXPECT_TRUE(metrics.at("mfu_ratio").is_null());
  EXPECT_EQ(record.at("repeats").size(), 3u);
  EXPECT_EQ(record.at("repeats")[1].at("step_s").size(), 20u);
  EXPECT_EQ(record.at("config").at("measure").at("steps"), 20);
  EXPECT_EQ(record.at("command_line").back(), "--quiet");
}

TEST_F(RunCommandTest, GoldenSummary) {
  make_repository();
  const auto result =
      flopmark({"run", "tiny.json", "--output", "record.json", "--set", "peak.flop_per_s=1e9"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  testing::expect_golden(result.out, "tests/unit/cli/golden/summary.txt");
  EXPECT_THAT(files("results"), IsEmpty());
  EXPECT_EQ(read_json("record.json").at("status"), "ok");
}

TEST_F(RunCommandTest, ProgressGoesToStandardErrorOnly) {
  const auto result = flopmark({"run", "tiny.json"});
  EXPECT_THAT(result.err, HasSubstr("timed"));
  EXPECT_THAT(result.out, Not(HasSubstr("launch 1/")));
  EXPECT_THAT(result.out, HasSubstr("Samples/s"));
}

TEST_F(RunCommandTest, SetIsRepeatableAndLeavesTheConfigsAlone) {
  const auto result =
      flopmark({"run", "--set", "measure.steps=3", "tiny.json", "--set", "measure.repeats=1", "--quiet"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json record = only_record();
  ASSERT_EQ(record.at("repeats").size(), 1u);
  EXPECT_EQ(record.at("repeats")[0].at("steps"), 3);
}

TEST_F(RunCommandTest, SeveralConfigsRunInTurn) {
  write("other.json", config());
  const auto result = flopmark({"run", "tiny.json", "other.json", "--quiet"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(files("results/tiny").size(), 1u);
  EXPECT_EQ(files("results/other").size(), 1u);
}

TEST_F(RunCommandTest, AllConfigsAreCheckedBeforeAnyRuns) {
  write("typo.json", R"({"data": {"batch_szie": 2}})");
  expect_refused({"run", "tiny.json", "typo.json"}, "batch_size");
}

// Public case A44.
TEST_F(RunCommandTest, ConfigMistakesAre200WithPlaceAndNearestName) {
  write("typo.json", R"({"model": {"hiden_size": 4}})");
  expect_refused({"run", "typo.json"}, "hidden_size");
  write("ten.json", R"({"measure": {"steps": "ten"}})");
  expect_refused({"run", "ten.json"}, "measure.steps");
  write("comma.json", "{\"name\": \"x\",}");
  expect_refused({"run", "comma.json"}, "comma.json");
  write("empty.json", "");
  expect_refused({"run", "empty.json"}, "empty.json");
  expect_refused({"run", "."}, ".");
  expect_refused({"run", "missing.json"}, "missing.json");
  expect_refused({"run", "tiny.json", "--set", "measure.stepz=2"}, "measure.steps");
}

TEST_F(RunCommandTest, OptionsThatContradictAreRefusedBeforeMeasuring) {
  write("other.json", config());
  expect_refused({"run", "tiny.json", "other.json", "--output", "x.json"}, "--output");
  expect_refused({"run", "tiny.json", "--save-baseline", "--force"}, "--reason");
  expect_refused({"run", "tiny.json", "--output", "."}, "folder");
  expect_refused({"run", "tiny.json", "--worker", "/no/such/worker"}, "/no/such/worker");
}

TEST_F(RunCommandTest, OptionsWithoutUseOrValueAreRefused) {
  for (const std::vector<std::string>& useless : std::vector<std::vector<std::string>>{{"--output", "x.json"},
                                                                                       {"--save-baseline"},
                                                                                       {"--store", "x"},
                                                                                       {"--worker", "x"},
                                                                                       {"--force"},
                                                                                       {"--reason", "x"}}) {
    std::vector<std::string> arguments{"run", "tiny.json", "--dry-run"};
    arguments.insert(arguments.end(), useless.begin(), useless.end());
    expect_refused(arguments,
                   "--dry-run starts nothing and writes nothing, so " + useless[0] + " has no use");
  }
  expect_refused({"run", "tiny.json", "--force"}, "--force has no use without --output or --save-baseline");
  expect_refused({"run", "tiny.json", "--reason", "x"}, "--reason has no use without");
  expect_refused({"run", "tiny.json", "--save-baseline", "--reason", "x"}, "--reason has no use without");
  expect_refused({"run", "tiny.json", "--output", "x.json", "--force", "--reason", "x"},
                 "--reason has no use");
  for (const std::string option : {"--output", "--store", "--worker", "--reason"}) {
    expect_refused({"run", "tiny.json", option, ""}, option + ": is empty");
  }
}

TEST_F(RunCommandTest, RecordsThatCannotBeWrittenAreToldBeforeMeasuring) {
  write("file", "");
  for (const std::vector<std::string>& place : std::vector<std::vector<std::string>>{
           {"--output", "file/record.json"}, {"--output", "/proc/record.json"}, {"--store", "/proc"}}) {
    const auto result = flopmark({"run", "tiny.json", "--quiet", place[0], place[1]});
    EXPECT_EQ(result.exit_code, 202) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("cannot write "));
    EXPECT_THAT(result.err, HasSubstr(place[1]));
  }
  EXPECT_EQ(files("").size(), 2u) << "nothing is left by the look";
}

TEST_F(RunCommandTest, BaselinesThatCannotBeSavedAreToldBeforeMeasuring) {
  const auto expect_not_saved = [this](const std::string& text) {
    const auto result = flopmark({"run", "tiny.json", "--set", "device=cpu", "--save-baseline"});
    EXPECT_EQ(result.exit_code, 202) << text;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_THAT(result.err, Not(HasSubstr("launch 1"))) << "measured all the same";
    EXPECT_THAT(files("results"), IsEmpty());
  };
  expect_not_saved("there is no commit to name it by");
  git({"init", "-q", "-b", "main"});
  expect_not_saved("there is no commit to name it by");
  make_repository();
  write("tiny.json", config() + "\n");
  expect_not_saved("has changes that are not committed");
  git({"checkout", "-q", "tiny.json"});
  const std::string hardware = hardware_slug(host_environment());
  write("baselines/" + hardware + "/tiny.json", "{}");
  expect_not_saved("is in no commit as it is now");
  EXPECT_EQ(baselines().size(), 1u);
}

TEST_F(RunCommandTest, OutputIsNotOverwrittenWithoutForce) {
  write("record.json", "precious");
  expect_refused({"run", "tiny.json", "--output", "record.json"}, "--force");
  EXPECT_EQ(read("record.json"), "precious");
  const auto result = flopmark({"run", "tiny.json", "--output", "record.json", "--force", "--quiet"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read_json("record.json").at("status"), "ok");
  expect_refused({"run", "tiny.json", "--output", "/dev/null", "--force"}, "is not a regular file");
}

TEST_F(RunCommandTest, DryRunPrintsJsonAndStartsNothing) {
  testing::ProgramOptions without = options({"run", "tiny.json", "--dry-run"});
  without.environment["FLOPMARK_WORKER"] = "/no/such/worker";
  const auto result = testing::run_program(FLOPMARK_PROGRAM, without);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto document = nlohmann::json::parse(result.out);
  EXPECT_EQ(document.at("flops").at("model_flop"), 44826624);
  EXPECT_EQ(document.at("config").at("measure").at("repeats"), 3);
  EXPECT_THAT(result.err, HasSubstr("without activations"));
  EXPECT_THAT(files("results"), IsEmpty());
}

TEST_F(RunCommandTest, HelpConfigIsTextOrSchema) {
  EXPECT_THAT(flopmark({"run", "--help-config"}).out, HasSubstr("warmup_min_steps"));
  const auto schema = nlohmann::json::parse(flopmark({"run", "--help-config", "--format", "schema"}).out);
  EXPECT_TRUE(schema.at("properties").contains("measure"));
}

// Public case A13.
TEST_F(RunCommandTest, InvalidIsMarkedOnTheLastLineAndNoBaseline) {
  const auto result = flopmark({"run", "tiny.json", "--quiet", "--set", "peak.flop_per_s=1e6"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, EndsWith("they cannot become a baseline\n"));
  EXPECT_THAT(result.out, HasSubstr("\nINVALID: "));
  EXPECT_EQ(only_record().at("status"), "invalid");
  make_repository();
  const auto saving =
      flopmark({"run", "tiny.json", "--quiet", "--set", "peak.flop_per_s=1e6", "--save-baseline"});
  EXPECT_EQ(saving.exit_code, 202);
  EXPECT_THAT(saving.err, HasSubstr("flopmark: error: "));
  EXPECT_THAT(files("baselines"), IsEmpty());
  EXPECT_EQ(files("results").size(), 2u);
}

TEST_F(RunCommandTest, SaveBaselineWritesTheStoreAndLaterRunsMentionIt) {
  make_repository();
  const auto saving = flopmark({"run", "tiny.json", "--quiet", "--save-baseline"});
  ASSERT_EQ(saving.exit_code, 0) << saving.err;
  EXPECT_THAT(saving.out, HasSubstr("commit it: git add baselines\n"));
  EXPECT_THAT(saving.out, Not(HasSubstr("save one with")));
  EXPECT_EQ(baselines().size(), 1u);
  testing::ProgramOptions slower = options({"run", "tiny.json", "--quiet"});
  slower.environment["FAKE_STEP_S"] = "0.4";
  const auto later = testing::run_program(FLOPMARK_PROGRAM, slower);
  EXPECT_EQ(later.exit_code, 0) << later.err;
  EXPECT_THAT(later.out, HasSubstr("on file: 10.00 samples/s at commit "));
  EXPECT_THAT(later.out, HasSubstr("this run 5.000 samples/s"));
}

TEST_F(RunCommandTest, WithoutABaselineItSaysHowToSaveOne) {
  const auto result = flopmark({"run", "tiny.json", "--quiet"});
  const std::string path = files("results").at(0).lexically_relative(work_).string();
  EXPECT_THAT(
      result.out,
      EndsWith("\nno baseline for this hardware; save one with:\n  flopmark baseline save " + path + "\n"));
}

TEST_F(RunCommandTest, TheLineToCommitWorksFromOutsideTheTree) {
  make_repository();
  testing::ProgramOptions outside =
      options({"run", (work_ / "tiny.json").string(), "--quiet", "--save-baseline"});
  outside.folder = folder_ / "scratch";
  const auto saving = testing::run_program(FLOPMARK_PROGRAM, outside);
  EXPECT_EQ(saving.exit_code, 0) << saving.err;
  const size_t at = saving.out.find("commit it: ");
  ASSERT_NE(at, std::string::npos) << saving.out;
  testing::ProgramOptions line = options({"-ec", saving.out.substr(at + 11)});
  line.folder = folder_ / "scratch";
  EXPECT_EQ(testing::run_program("bash", line).exit_code, 0);
  git({"commit", "-q", "-m", "baseline"});
}

TEST_F(RunCommandTest, WithoutGitNothingIsSaidOfCommitting) {
  const auto saving =
      flopmark({"run", "tiny.json", "--quiet", "--save-baseline", "--force", "--reason", "no Git here"});
  EXPECT_EQ(saving.exit_code, 0) << saving.err;
  EXPECT_THAT(saving.out, HasSubstr("\nbaseline baselines/1x-fake-cpu/tiny.json\n"));
  EXPECT_THAT(saving.out, Not(HasSubstr("git add")));
}

// Public case A41.
TEST_F(RunCommandTest, WithoutGitItRunsAndSaysWhyThereIsNoCommit) {
  const auto result = flopmark({"run", "tiny.json", "--quiet"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json subject = only_record().at("subject");
  EXPECT_TRUE(subject.at("commit").is_null());
  EXPECT_THAT(subject.at("reason").get<std::string>(), Not(IsEmpty()));
  EXPECT_THAT(result.out, HasSubstr("commit   none: "));
}

TEST_F(RunCommandTest, DetachedAndDirtyTreesAreNamed) {
  make_repository();
  EXPECT_THAT(flopmark({"run", "tiny.json", "--quiet"}).out, HasSubstr(", on main\n"));
  git({"checkout", "-q", "--detach"});
  write("tiny.json", config() + "\n");
  const auto result = flopmark({"run", "tiny.json", "--quiet"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(", detached, with uncommitted changes\n"));
  EXPECT_THAT(result.out, HasSubstr("warning  dirty_tree: "));
}

TEST_F(RunCommandTest, StoreOptionDecidesWhereRecordsLie) {
  const auto fresh = flopmark({"run", "tiny.json", "--quiet", "--store", "elsewhere"});
  EXPECT_EQ(fresh.exit_code, 0);
  EXPECT_EQ(fresh.err, "flopmark: --store elsewhere: a new store is made there\n");
  EXPECT_THAT(files("results"), IsEmpty());
  EXPECT_EQ(files("elsewhere/results").size(), 1u);
  EXPECT_EQ(flopmark({"run", "tiny.json", "--quiet", "--store", "elsewhere"}).err, "");
}

TEST_F(RunCommandTest, StoreOptionThatNamesNoFolderIsRefused) {
  expect_refused({"run", "tiny.json", "--store", "no/such"}, "--store no/such: no such folder");
  EXPECT_FALSE(std::filesystem::exists(work_ / "no"));
  expect_refused({"run", "tiny.json", "--store", "tiny.json"}, "--store tiny.json: is not a folder");
}

}  // namespace
}  // namespace flopmark
