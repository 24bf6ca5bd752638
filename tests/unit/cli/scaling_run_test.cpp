#include "cli/scaling_run.h"

#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ScalingRunTest : public CliTest {
 protected:
  void expect_refused(const std::vector<std::string>& more, const std::string& text) const {
    std::vector<std::string> arguments{"run", "tiny.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = flopmark(arguments);
    EXPECT_EQ(result.exit_code, 200) << text;
    EXPECT_EQ(result.out, "") << text;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_THAT(files("results"), IsEmpty()) << text;
  }
};

TEST_F(ScalingRunTest, MeasuresEachNumberOfRanksAndPrintsOneTable) {
  const auto result = flopmark({"run", "tiny.json", "--scaling", "1,2", "--quiet"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("ranks  samples/s  per rank  step, median  communication exposed"));
  EXPECT_THAT(result.out, HasSubstr("\n    1      10.00     10.00      200.0 ms"));
  EXPECT_THAT(result.out, HasSubstr("\n    2      20.00     10.00      200.0 ms"));
  EXPECT_THAT(result.out, HasSubstr("100.0 %"));
  EXPECT_THAT(result.out, HasSubstr("efficiency: samples/s over those of 1 rank times the number of ranks"));
  std::vector<int64_t> counts;
  for (const auto& file : files("results/tiny")) {
    counts.push_back(read_json(file).at("environment").at("device_count"));
  }
  EXPECT_THAT(counts, ::testing::UnorderedElementsAre(1, 2));
}

TEST_F(ScalingRunTest, AFailedRunEndsItAfterTheTable) {
  const auto result = flopmark({"run", "tiny.json", "--scaling", "1,2", "--quiet"}, "crash");
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_EQ(files("results/tiny").size(), 1u) << "the record of the run that failed";
  EXPECT_EQ(result.out, "");
}

TEST_F(ScalingRunTest, RefusesNumbersThatCompareNothing) {
  const std::pair<const char*, const char*> faults[] = {
      {"2", "one number alone compares nothing"},
      {"", "it is empty"},
      {"2,1", "1 follows 2"},
      {"1,4,2", "2 follows 4"},
      {"1,2,2", "2 is there twice"},
      {"0,1", "\"0\" is no whole number from 1 to 1024"},
      {"-1,2", "\"-1\" is no whole number from 1 to 1024"},
      {"1,1025", "\"1025\" is no whole number from 1 to 1024"},
      {"1,two", "\"two\" is no whole number from 1 to 1024"},
      {"1,2.5", "\"2.5\" is no whole number from 1 to 1024"},
      {"1 2", "\"1 2\" is no whole number from 1 to 1024"},
      {"1,,2", "there is nothing where a number should be"},
      {"1,2,", "there is nothing where a number should be"}};
  for (const auto& [list, fault] : faults) {
    expect_refused({"--scaling", list}, "flopmark: error: --scaling \"" + std::string(list) + "\": " + fault +
                                            "; give numbers of ranks in ascending order");
    expect_refused({"--scaling", list}, "such as --scaling 1,2,4\n");
  }
}

TEST_F(ScalingRunTest, WithoutOneRankItSaysWhatEfficiencyIsAgainst) {
  const auto result = flopmark({"run", "tiny.json", "--scaling", "2,4"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("--scaling \"2,4\": 1 is not among them, so that efficiency is against 2 "
                                    "ranks; --scaling 1,2,4 has it"));
  EXPECT_THAT(result.out, HasSubstr("efficiency: samples/s over those of 2 ranks"));
}

/// The fake worker has two GPUs.
TEST_F(ScalingRunTest, MoreRanksThanDevicesAreToldBeforeTheFirstRun) {
  const std::string reason = "there are 2 CUDA devices here";
  expect_refused(
      {"--scaling", "1,2,4", "--set", "device=cuda"},
      "--scaling \"1,2,4\": 4 ranks take a GPU each, and here are fewer (device: \"cuda:3\", but " + reason +
          "); leave out what is too many: --scaling 1,2\n");
  expect_refused({"--scaling", "1,4", "--set", "device=cuda"}, "CPU ranks: --set device=cpu --scaling 1,2\n");
  expect_refused({"--scaling", "1,2", "--set", "device=cuda:0"}, "device \"cuda:0\" is one GPU");
  EXPECT_EQ(flopmark({"run", "tiny.json", "--scaling", "1,2", "--set", "device=cuda"}).exit_code, 0);
  const auto shared = flopmark({"run", "tiny.json", "--scaling", "1,1000", "--set", "device=cpu"}, "crash");
  EXPECT_THAT(shared.err, HasSubstr("--scaling \"1,1000\": 1000 ranks share this machine's "));
}

TEST_F(ScalingRunTest, RefusesWhatMeansOneRun) {
  expect_refused({"--scaling", "1,2", "--output", "x.json"}, "--output is of one run");
  expect_refused({"--scaling", "1,2", "--save-baseline"}, "--save-baseline is of one run");
  expect_refused({"--scaling", "1,2", "--dry-run"}, "--dry-run is of one run");
  expect_refused({"--scaling", "1,2", "--set", "parallel.ranks=2"},
                 "--set parallel.ranks=2 and --scaling both say how many ranks");
}

}  // namespace
}  // namespace flopmark
