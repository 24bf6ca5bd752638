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
  expect_refused({"--scaling", "2"}, "--scaling needs at least two numbers of ranks");
  expect_refused({"--scaling", "2,1"},
                 "--scaling: 1 follows 2; give the numbers of ranks in ascending order");
  expect_refused({"--scaling", "2,2"}, "--scaling: 2 follows 2");
  expect_refused({"--scaling", "0,1"}, "parallel.ranks: found 0, expected a whole number from 1 to 1024");
  expect_refused({"--scaling", "1,1025"}, "parallel.ranks: found 1025");
  expect_refused({"--scaling", "1,two"}, "--scaling");
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
