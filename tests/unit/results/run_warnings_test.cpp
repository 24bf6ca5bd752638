#include "results/run_warnings.h"

#include <gmock/gmock.h>

#include "fakes/example_record.h"
#include "fakes/rank_samples.h"
#include "unit/results/example_launch.h"

namespace flopmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> codes(const std::vector<LaunchSamples>& launches) {
  std::vector<std::string> result;
  for (const auto& warning : launch_warnings(launches)) result.push_back(warning.code);
  return result;
}

std::string text(const std::vector<LaunchSamples>& launches) {
  return launch_warnings(launches).at(0).text;
}

TEST(LaunchWarnings, NoneForAGoodRun) {
  EXPECT_THAT(codes(example_launches()), IsEmpty());
}

TEST(LaunchWarnings, SkippedUpdatesAreCounted) {
  auto launches = example_launches();
  for (auto& launch : launches) launch.timed.skipped_steps = 0;
  EXPECT_THAT(codes(launches), IsEmpty());
  launches[1].timed.skipped_steps = 2;
  launches[3].timed.skipped_steps = 1;
  EXPECT_THAT(codes(launches), ElementsAre("steps_skipped"));
  EXPECT_THAT(text(launches), HasSubstr("3 of 200 timed steps left the parameters as they were"));
}

TEST(LaunchWarnings, NotSteadyNamesTheLaunches) {
  auto launches = example_launches();
  launches[1].warmup.steady = false;
  launches[1].warmup.reason = "still falling by 4 %";
  EXPECT_THAT(codes(launches), ElementsAre("not_steady"));
  EXPECT_THAT(text(launches), HasSubstr("launch 2 "));
  EXPECT_THAT(text(launches), HasSubstr("still falling by 4 %"));
  launches[2].warmup.steady = launches[4].warmup.steady = false;
  EXPECT_THAT(text(launches), HasSubstr("launches 2, 3 and 5 "));
}

/// From step 20 on every step takes 10 % longer.
TEST(LaunchWarnings, DriftIsAShiftWithinALaunch) {
  auto launches = example_launches();
  for (size_t i = 20; i < 40; ++i) launches[3].timed.step_s[i] = 0.11;
  launches[3].timed.wall_s = 4.2;
  for (size_t i = 20; i < 40; ++i) launches[3].timed.phase_s[static_cast<size_t>(Phase::other)][i] = 0.01;
  EXPECT_THAT(codes(launches), ElementsAre("drift"));
  EXPECT_THAT(text(launches), HasSubstr("launch 4 (by up to +10.0 %)"));
}

/// 3.2 % in all: the halves differ by 1.6 %, which no split in two calls a shift, the outer quarters by 2.5
/// %.
TEST(LaunchWarnings, DriftIsAlsoASlowOneFromTheFirstQuarterToTheLast) {
  auto launches = example_launches();
  auto& timed = launches[1].timed;
  auto& forward_s = timed.phase_s[static_cast<size_t>(Phase::forward)];
  timed.wall_s = 0;
  for (size_t i = 0; i < 40; ++i) {
    const double more_s = 0.1 * 0.032 * static_cast<double>(i) / 39;
    timed.step_s[i] += more_s;
    forward_s[i] += more_s;
    timed.wall_s += timed.step_s[i];
  }
  EXPECT_THAT(codes(launches), ElementsAre("drift"));
  EXPECT_THAT(text(launches), HasSubstr("launch 2 (by up to +2.5 %)"));
}

TEST(LaunchWarnings, LevelsOfLaunchesMayDiffer) {
  auto launches = example_launches();
  auto& timed = launches[0].timed;
  timed.step_s.assign(40, 0.2);
  timed.phase_s[static_cast<size_t>(Phase::forward)].assign(40, 0.12);
  timed.wall_s = 8.0;
  EXPECT_THAT(codes(launches), IsEmpty());
}

TEST(LaunchWarnings, FewSteps) {
  auto launches = example_launches();
  launches[0].timed.steps = 30;
  EXPECT_THAT(codes(launches), IsEmpty());
  launches[0].timed.steps = 29;
  EXPECT_THAT(codes(launches), ElementsAre("few_steps"));
  EXPECT_THAT(text(launches), HasSubstr("only 29 timed steps"));
}

TEST(LaunchWarnings, FewLaunches) {
  auto launches = example_launches();
  launches.pop_back();
  EXPECT_THAT(codes(launches), ElementsAre("few_launches"));
  EXPECT_THAT(text(launches), HasSubstr("only 4 launches"));
  EXPECT_THAT(text({example_launch()}), HasSubstr("only 1 launch:"));
}

/// Steps add up to 4.0 s in all cases.
TEST(LaunchWarnings, WallClockWithinOnePercent) {
  auto launches = example_launches();
  launches[2].timed.wall_s = 4.03;
  EXPECT_THAT(codes(launches), IsEmpty());
  launches[2].timed.wall_s = 4.06;
  EXPECT_THAT(codes(launches), ElementsAre("wall_disagrees"));
  launches[2].timed.wall_s = 3.94;
  EXPECT_THAT(codes(launches), ElementsAre("wall_disagrees"));
}

/// Rank 1 is slower in every step, and the block lasts as long as it needs.
TEST(LaunchWarnings, WallClockOfSeveralRanksIsThatOfTheSlowest) {
  auto launches = example_launches();
  for (auto& launch : launches) {
    launch = as_two_ranks(launch);
    launch.ranks[0].step_s.assign(40, 0.09);
  }
  EXPECT_THAT(codes(launches), IsEmpty());
  launches[2].timed.wall_s = 3.6;
  EXPECT_THAT(codes(launches), ElementsAre("wall_disagrees"));
}

TEST(LaunchWarnings, PhasesWithinTwoPercent) {
  auto launches = example_launches();
  auto& forward = launches[1].timed.phase_s[static_cast<size_t>(Phase::forward)];
  forward.assign(40, 0.0215);
  EXPECT_THAT(codes(launches), IsEmpty());
  forward.assign(40, 0.0225);
  EXPECT_THAT(codes(launches), ElementsAre("phases_do_not_add_up"));
  EXPECT_THAT(text(launches), HasSubstr("+2.5 %"));
  forward.assign(40, 0.01);
  EXPECT_THAT(text(launches), HasSubstr("-10.0 %"));
}

TEST(LaunchWarnings, FlopsDifferBetweenLaunches) {
  auto launches = example_launches();
  launches[4].flops->backward_hardware_flop += 1;
  EXPECT_THAT(codes(launches), ElementsAre("flops_differ"));
  launches[4].flops.reset();
  EXPECT_THAT(codes(launches), IsEmpty()) << "not counted is not different";
}

TEST(LaunchWarnings, UncountedOperatorsAreNamed) {
  auto launches = example_launches();
  for (auto& launch : launches)
    launch.flops->uncounted = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}};
  EXPECT_THAT(codes(launches), ElementsAre("uncounted_operators"));
  EXPECT_THAT(text(launches), HasSubstr("a, b, c, d, e and 1 more: their FLOPs are too few"));
  launches[0].flops->lower_bound = true;
  EXPECT_THAT(text(launches), HasSubstr("lower bounds"));
}

TEST(LaunchWarnings, ConstantLoss) {
  auto launches = example_launches();
  launches[0].timed.losses.assign(9, 2.5);
  EXPECT_THAT(codes(launches), IsEmpty());
  launches[0].timed.losses.assign(10, 2.5);
  EXPECT_THAT(codes(launches), ElementsAre("loss_constant"));
  launches[0].timed.losses[9] = 2.5000001;
  EXPECT_THAT(codes(launches), IsEmpty());
}

TEST(SubjectWarnings, CommitAndDirt) {
  Subject subject;
  subject.reason = "could not find repository";
  EXPECT_EQ(subject_warnings(subject).at(0).code, "no_commit");
  EXPECT_THAT(subject_warnings(subject).at(0).text, HasSubstr("could not find repository"));
  subject.commit = std::string(40, 'a');
  EXPECT_EQ(subject_warnings(subject).at(0).code, "dirty_unknown");
  subject.dirty = true;
  EXPECT_EQ(subject_warnings(subject).at(0).code, "dirty_tree");
  subject.dirty = false;
  EXPECT_THAT(subject_warnings(subject), IsEmpty());
}

TEST(Believability, OverOneIsDoubted) {
  RunRecord record = example_record();
  record.metrics.values["hfu_ratio"] = 1.0;
  EXPECT_FALSE(believability_warning(record).has_value());
  record.metrics.values["hfu_ratio"] = 1.0811;
  const auto warning = believability_warning(record);
  ASSERT_TRUE(warning.has_value());
  EXPECT_EQ(warning->code, "not_believable");
  for (const char* part : {"HFU 108.1 %", "44826624 model", "45350912 hardware", "0.251235 s per step",
                           "8 devices, peak", "9.894e+14 FLOP/s", "bf16, dense, source table, NVIDIA H200"}) {
    EXPECT_THAT(warning->text, HasSubstr(part));
  }
  record.metrics.values = {{"mfu_ratio", std::nullopt}};
  EXPECT_FALSE(believability_warning(record).has_value());
}

}  // namespace
}  // namespace flopmark
