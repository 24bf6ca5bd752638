// A small version of benchmarks/bisect_trials, with its own seeds.
#include "fakes/bisect_trials.h"

#include <gtest/gtest.h>

#include <map>

#include "fakes/step_generator.h"

namespace flopmark::testing {
namespace {

constexpr uint64_t kSeed = 424200;

std::map<TrialEnd, size_t> ends_of(const TrialSubject& subject, size_t trials) {
  std::map<TrialEnd, size_t> ends;
  for (size_t trial = 0; trial < trials; ++trial) {
    const BisectTrial ended = bisect_trial(subject, kSeed + trial);
    ++ends[ended.end];
    EXPECT_EQ(ended.measured_twice, 0U);
  }
  return ends;
}

TEST(BisectTrials, FindsAStepOfFivePercentOrARangeWithIt) {  // T10
  for (const char* generator : {"quiet", "procbimodal", "drift", "stall"}) {
    auto ends = ends_of({generator, 0.05}, 10);
    EXPECT_EQ(ends[TrialEnd::right] + ends[TrialEnd::range], 10U) << generator;
    EXPECT_GE(ends[TrialEnd::right], 5U) << generator;
  }
}

TEST(BisectTrials, IsNeverWrongWhateverTheNoise) {
  for (const std::string& generator : StepGenerator::names()) {
    EXPECT_EQ(ends_of({generator, 0.02}, 2)[TrialEnd::wrong], 0U) << generator;
  }
}

TEST(BisectTrials, StopsBeforeTheSearchWhereNothingChanged) {  // T11
  for (const std::string& generator : StepGenerator::names()) {
    EXPECT_EQ(ends_of({generator, 0}, 4)[TrialEnd::stopped], 4U) << generator;
  }
}

/// The trials can tell: one launch per commit is wrong more often than not.
TEST(BisectTrials, OthersAreWrongOnTheSameHistories) {
  size_t wrong = 0;
  for (size_t trial = 0; trial < 20; ++trial) {
    const BisectTrial ended = rival_trial(bisect_rivals().front(), {"noisy", 0.02}, kSeed + trial);
    wrong += ended.end == TrialEnd::wrong ? 1 : 0;
  }
  EXPECT_GE(wrong, 10U);
}

}  // namespace
}  // namespace flopmark::testing
