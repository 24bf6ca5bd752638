// The judge on step times made with known truth: few trials each, so that every run of the tests sees it; the
// full table comes from benchmarks/judge_trials.

#include <gtest/gtest.h>

#include "compare/paired_judge.h"
#include "fakes/rivals.h"
#include "fakes/step_generator.h"
#include "unit/compare/pairs.h"

namespace flopmark {
namespace {

using testing::Design;
using testing::Injected;
using testing::StepGenerator;

JudgeRule gated_by(Summary summary) {
  JudgeRule rule;
  rule.gates = {{summary, 0.01, true}};
  return rule;
}

size_t count_slower(const std::string& generator_name, const JudgeRule& rule, const Injected& injected,
                    size_t trials, Design design = Design::random_order) {
  size_t slower = 0;
  for (size_t trial = 0; trial < trials; ++trial) {
    StepGenerator generator(generator_name, 100 + trial);
    slower += testing::judged_trial(generator, rule, injected, design).verdict == Verdict::slower ? 1 : 0;
  }
  return slower;
}

size_t count_flagged(const testing::Rival& rival, const std::string& generator_name, size_t trials) {
  size_t flagged = 0;
  for (size_t trial = 0; trial < trials; ++trial) {
    StepGenerator generator(generator_name, 100 + trial);
    testing::Launches old_s, new_s;
    for (int i = 0; i < 10; ++i) old_s.push_back(generator.next_launch());
    for (int i = 0; i < 10; ++i) new_s.push_back(generator.next_launch());
    flagged += rival.flags(old_s, new_s, generator.random()) ? 1 : 0;
  }
  return flagged;
}

/// Nothing changed: a true 1 % gives more than 17 of 780 less than one time in a thousand.
TEST(JudgeTrials, FalseAlarmsAreRare) {
  size_t total = 0;
  for (const std::string& name : StepGenerator::names()) {
    const size_t slower = count_slower(name, rule_with_tolerance(), {}, 60);
    EXPECT_LE(slower, 4u) << name;
    total += slower;
  }
  EXPECT_LE(total, 17u);
}

TEST(JudgeTrials, FivePercentAreFound) {
  for (const std::string name : {"quiet", "procbimodal", "drift", "stall"}) {
    EXPECT_GE(count_slower(name, rule_with_tolerance(), {0.05, 0}, 20), 19u) << name;
  }
  EXPECT_GE(count_slower("noisy", gated_by(Summary::typical), {0.05, 0}, 20), 19u);
  EXPECT_GE(count_slower("neighbour", gated_by(Summary::floor), {0.05, 0}, 20), 18u);
}

/// Five percent of the mean through every tenth step: found by throughput and named so; floor sees nothing of
/// it, and must not clear it.
TEST(JudgeTrials, StallsAreFoundByThroughputAndNamed) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    StepGenerator generator("quiet", seed);
    const auto pairs = testing::measured_pairs(generator, 64, {0, 0.05});
    const PairedJudgement judgement = judge_pairs(pairs, rule_with_tolerance());
    EXPECT_EQ(judgement.verdict, Verdict::slower);
    EXPECT_EQ(judgement.decided_by, Summary::throughput);
    EXPECT_EQ(judgement.cause, Cause::stall);
    EXPECT_EQ(judge_pairs(pairs, gated_by(Summary::floor)).verdict, Verdict::unsure);
  }
}

/// A machine that slows by 0.2 % from launch to launch: blocks one after the other differ, pairs do not.
TEST(JudgeTrials, DriftFoolsBlocksAndNotPairs) {
  EXPECT_EQ(count_slower("drift", rule_with_tolerance(), {}, 60), 0u);
  EXPECT_GE(count_flagged(testing::rivals()[0], "drift", 60), 59u);
  EXPECT_GE(count_flagged(testing::rivals()[1], "drift", 60), 59u);
}

// Mutants of the rule: what the checks above allow would be exceeded.

TEST(JudgeTrials, WithoutRandomOrderTheAlarmsShow) {
  EXPECT_GE(count_slower("second", rule_with_tolerance(), {}, 30, Design::fixed_order), 25u);
  EXPECT_LE(count_slower("second", rule_with_tolerance(), {}, 60), 4u);
}

/// The level split over neither looks nor gates, on pairs of independent noise of 5 %.
TEST(JudgeTrials, WithoutTheSplitOfTheLevelTheAlarmsShow) {
  const auto alarms = [](double alpha) {
    Random random(77);
    JudgeRule rule = rule_with_tolerance();
    rule.alpha = alpha;
    size_t slower = 0;
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<PairRatios> pairs;
      for (int i = 0; i < 64; ++i) pairs.push_back({0.05 * random.normal(), 0, 0.05 * random.normal()});
      slower += decide_pairs(pairs, rule).verdict == Verdict::slower ? 1 : 0;
    }
    return slower;
  };
  EXPECT_LE(alarms(0.01), 8u);  // 300 at a true 1 %: more than 8 less than once in two hundred
  EXPECT_GE(alarms(0.10), 9u);  // 0.01 at each look and gate
}

TEST(JudgeTrials, PoolingStepsOrTakingTheSmallerNoiseAlarms) {
  EXPECT_GE(count_flagged(testing::rivals()[0], "noisy", 60), 10u);
  EXPECT_GE(count_flagged(testing::rivals()[4], "drift", 60), 10u);
}

}  // namespace
}  // namespace flopmark
