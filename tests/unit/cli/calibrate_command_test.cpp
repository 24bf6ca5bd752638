#include "fakes/golden.h"
#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The fake worker is never noisy: tolerance and what can be found are the least there are.
class CalibrateCommandTest : public CliTest {
 protected:
  testing::ProgramResult calibrate(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"calibrate", "tiny.json", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return flopmark(arguments);
  }
};

TEST_F(CalibrateCommandTest, KeepsItsPairsAndAbUsesThem) {
  make_repository();
  const auto result = calibrate({"--format", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json whole = json::parse(result.out);
  EXPECT_EQ(whole["schema"], "flopmark.calibration/1");
  EXPECT_EQ(whole["pairs"], 20);
  EXPECT_EQ(whole["summaries"]["floor"]["tolerance_ratio"], 0.01);
  EXPECT_LT(whole["variance"]["between_ratio"].get<double>(), 1e-9);
  EXPECT_EQ(whole["path"], "baselines/1x-fake-cpu/tiny.calibration.jsonl");
  EXPECT_EQ(read("baselines/.gitattributes"), "*.calibration.jsonl merge=union\n");

  // 2 % is below the tolerance without calibration, and above the calibrated one.
  const std::vector<std::string> ab{"ab", "tiny.json", "--b.env", "FAKE_STEP_S=0.204", "--quiet"};
  EXPECT_EQ(flopmark(ab).exit_code, 1);
  std::vector<std::string> other_steps = ab;
  other_steps.insert(other_steps.end(), {"--set", "measure.steps=21"});
  EXPECT_EQ(flopmark(other_steps).exit_code, 0);
}

TEST_F(CalibrateCommandTest, MorePairsAreAddedToThoseOnFile) {
  const auto first = calibrate({"--pairs", "12"});
  EXPECT_EQ(first.exit_code, 125);
  EXPECT_THAT(first.err, HasSubstr("calibration needs at least 20 pairs, found 12: measure more"));
  const auto second = calibrate({"--pairs", "8"});
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.out, AllOf(HasSubstr("20 on file, 8 of them measured now"), HasSubstr("Step time, mean")));
  EXPECT_LE(testing::widest_line(second.out), 100u);
}

TEST_F(CalibrateCommandTest, LessThanCanBeJudgedIsRefusedWithTheNumberOfPairs) {
  EXPECT_EQ(calibrate({"--want", "0.02"}).exit_code, 0);
  const auto refused = calibrate({"--want", "0.001", "--pairs", "1"});
  EXPECT_EQ(refused.exit_code, 203);
  EXPECT_THAT(refused.err, HasSubstr("pairs would be needed"));
}

TEST_F(CalibrateCommandTest, AFailingLaunchIs125) {
  testing::ProgramOptions failing = options({"calibrate", "tiny.json", "--quiet"});
  failing.environment["FAKE_TURNS"] = "crash";
  const auto result = testing::run_program(FLOPMARK_PROGRAM, failing);
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.err, HasSubstr("tiny: pair 1 failed: crash: "));
  EXPECT_TRUE(files("baselines").empty());
}

TEST_F(CalibrateCommandTest, WrongUseIs200WithOneMessage) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--pairs", "0"}, "--pairs 0: from 1 to 256"},
      {{"--pairs", "257"}, "--pairs 257: from 1 to 256"},
      {{"--want", "2"}, "--want 2: is a ratio, above 0 and below 1"},
      {{"--want", "0"}, "--want 0: is a ratio"},
      {{"--budget", "x"}, "--budget x: is no time above 0"},
      {{"--store", "no/where"}, "--store no/where"}};
  for (const auto& [arguments, text] : cases) {
    const auto result = calibrate(arguments);
    EXPECT_EQ(result.exit_code, 200) << text;
    EXPECT_THAT(result.err, AllOf(StartsWith("flopmark: error: "), HasSubstr(text)));
  }
}

}  // namespace
}  // namespace flopmark
