#include <gmock/gmock.h>

#include "results/run_warnings.h"
#include "unit/results/example_launch.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Steps of 0.1 s of which `wait_s` is waiting for the batch, in every one of `every`.
std::vector<LaunchSamples> waiting_launches(double wait_s, size_t every = 1) {
  auto launches = example_launches();
  for (auto& launch : launches) {
    auto& data_s = launch.timed.phase_s[static_cast<size_t>(Phase::data)];
    for (size_t i = 0; i < data_s.size(); i += every) data_s[i] = wait_s;
  }
  return launches;
}

TEST(DataWarnings, NoneWhereTheLoaderKeepsUp) {
  EXPECT_THAT(data_warnings(example_launches()), IsEmpty());
  EXPECT_THAT(data_warnings(waiting_launches(0.0049)), IsEmpty());
  EXPECT_THAT(data_warnings(waiting_launches(0.09, 3)), IsEmpty()) << "the typical step does not wait";
  EXPECT_THAT(data_warnings({}), IsEmpty());
}

TEST(DataWarnings, ALoaderSlowerThanTheStep) {
  const auto warnings = data_warnings(waiting_launches(0.03));
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0].code, "loader_slow");
  EXPECT_THAT(warnings[0].text,
              AllOf(HasSubstr("a step of 100 ms waits 30 ms of it (30 %)"), HasSubstr("data.workers")));
}

TEST(DataWarnings, WaitingThatDominates) {
  EXPECT_EQ(data_warnings(waiting_launches(0.049)).at(0).code, "loader_slow");
  const auto warnings = data_warnings(waiting_launches(0.0601));
  ASSERT_THAT(warnings, SizeIs(1)) << "not both";
  EXPECT_EQ(warnings[0].code, "data_wait_dominates");
  EXPECT_THAT(warnings[0].text, AllOf(HasSubstr("60 % of its time"), HasSubstr("data.workers")));
}

TEST(DataWarnings, OnlyZerosInOneLaunchAreEnough) {
  auto launches = example_launches();
  for (auto& launch : launches) launch.zero_inputs = false;
  EXPECT_THAT(data_warnings(launches), IsEmpty());
  launches[2].zero_inputs = true;
  ASSERT_THAT(data_warnings(launches), SizeIs(1));
  EXPECT_EQ(data_warnings(launches)[0].code, "zero_inputs");
  EXPECT_THAT(data_warnings(launches)[0].text, HasSubstr("data.path"));
}

}  // namespace
}  // namespace flopmark
