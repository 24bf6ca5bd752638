#include "compare/decision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stats/random.h"
#include "unit/compare/pairs.h"

namespace flopmark {
namespace {

TEST(Decision, TellsTheThreeApart) {
  EXPECT_EQ(decide_pairs(pairs_about(5, 0.2, 12), rule_with_tolerance()).verdict, Verdict::slower);
  EXPECT_EQ(decide_pairs(pairs_about(0, 0.2, 12), rule_with_tolerance()).verdict, Verdict::same);
  EXPECT_EQ(decide_pairs(pairs_about(-5, 0.2, 12), rule_with_tolerance()).verdict, Verdict::faster);
  EXPECT_EQ(decide_pairs(wide_pairs(2, 8, 64), rule_with_tolerance()).verdict, Verdict::unsure);
}

/// Against a mutant that swaps old and new, or judges improvements as regressions.
TEST(Decision, TurnsWithTheSign) {
  Random random(2);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<PairRatios> there, back;
    for (int i = 0; i < 12; ++i) {
      const double value = 0.05 + 0.01 * random.normal();
      there.push_back({value, value, value});
      back.push_back({-value, -value, -value});
    }
    EXPECT_EQ(decide_pairs(there, rule_with_tolerance()).verdict, Verdict::slower);
    EXPECT_EQ(decide_pairs(back, rule_with_tolerance()).verdict, Verdict::faster);
  }
}

TEST(Decision, LevelsAreSplitOverLooksAndByHolmOverGates) {
  EXPECT_DOUBLE_EQ(JudgeRule().level_per_look(), 0.002);
  // Throughput far above 0, floor about 0: the first at 0.002 / 2, the second then at 0.002.
  std::vector<PairRatios> pairs;
  for (int i = 0; i < 12; ++i) pairs.push_back({0.05 + 0.001 * i, 0, i % 2 == 0 ? 0.01 : -0.01});
  const Decision decision = decide_look(pairs, rule_with_tolerance());
  EXPECT_DOUBLE_EQ(decision.gates[0].level, 0.001);
  EXPECT_DOUBLE_EQ(decision.gates[1].level, 0.002);
  EXPECT_DOUBLE_EQ(decision.gates[0].p_slower, std::ldexp(1, -12));
  EXPECT_TRUE(decision.gates[0].slower);
  EXPECT_FALSE(decision.gates[1].slower);
  // P(W <= 2) = 3/4096 is the last below 0.001: the limit is the third smallest mean of two.
  EXPECT_DOUBLE_EQ(*decision.gates[0].low, 0.051);
}

/// The first look with 12 pairs needs p <= 0.001: W at most 2 below; one pair of rank 3 the other way is too
/// many.
TEST(Decision, TheFirstLookNeedsOneInAThousand) {
  for (const int turned : {1, 2, 3}) {
    std::vector<PairRatios> pairs;
    for (int rank = 1; rank <= 12; ++rank) {
      const double value = (rank == turned ? -0.01 : 0.01) * rank;
      pairs.push_back({value, value, value});
    }
    EXPECT_EQ(decide_look(pairs, rule_with_tolerance()).verdict == Verdict::slower, turned <= 2) << turned;
  }
}

TEST(Decision, SlowerNeedsTheTolerance) {
  EXPECT_EQ(decide_pairs(pairs_about(1.9, 0.01, 12), rule_with_tolerance(0.02)).verdict, Verdict::same);
  EXPECT_EQ(decide_pairs(pairs_about(2.1, 0.01, 12), rule_with_tolerance(0.02)).verdict, Verdict::slower);
}

TEST(Decision, GoodNeedsEveryGateBelowItsBound) {
  EXPECT_DOUBLE_EQ(Gate{}.good_bound_ratio(), 0.045);  // uncalibrated: 3 % tolerance
  EXPECT_DOUBLE_EQ((Gate{Summary::floor, 0.01}.good_bound_ratio()), 0.03);
  // Throughput clear, floor wide: not settled, although throughput alone would be.
  std::vector<PairRatios> pairs;
  for (int i = 0; i < 12; ++i) pairs.push_back({i % 2 == 0 ? 0.001 : -0.001, 0, i % 2 == 0 ? 0.08 : -0.07});
  EXPECT_EQ(decide_pairs(pairs, rule_with_tolerance()).verdict, Verdict::unsure);
  JudgeRule throughput = rule_with_tolerance();
  throughput.gates.pop_back();
  EXPECT_EQ(decide_pairs(pairs, throughput).verdict, Verdict::same);
}

TEST(Decision, FloorMayConvictButNeverClearAlone) {
  JudgeRule floor_only = rule_with_tolerance();
  floor_only.gates = {{Summary::floor, 0.01, true}};
  EXPECT_EQ(decide_pairs(pairs_about(0, 0.1, 64), floor_only).verdict, Verdict::unsure);
  EXPECT_EQ(decide_pairs(pairs_about(-9, 0.1, 64), floor_only).verdict, Verdict::unsure);
  EXPECT_EQ(decide_pairs(pairs_about(4, 0.1, 64), floor_only).verdict, Verdict::slower);
  floor_only.mid_ratio = 0.025;  // against mid it may: a bisection has fixed its metric
  EXPECT_EQ(decide_pairs(pairs_about(0, 0.1, 64), floor_only).verdict, Verdict::same);
}

TEST(Decision, AgainstMidBothSidesAreJudgedThere) {
  JudgeRule rule = rule_with_tolerance(0.5);  // tolerances do not count against mid
  rule.mid_ratio = 0.025;
  EXPECT_DOUBLE_EQ(rule.level_per_look(), 0.001);
  EXPECT_EQ(decide_pairs(pairs_about(5, 0.2, 12), rule).verdict, Verdict::slower);
  EXPECT_EQ(decide_pairs(pairs_about(2, 0.1, 12), rule).verdict, Verdict::same);
  EXPECT_EQ(decide_pairs(pairs_about(-3, 0.1, 12), rule).verdict, Verdict::faster);
  EXPECT_EQ(decide_pairs(wide_pairs(2.5, 2, 64), rule).verdict, Verdict::unsure);
}

TEST(Decision, LooksOnlyAtThePlannedNumbers) {
  EXPECT_EQ(decide_pairs(pairs_about(5, 0.2, 11), rule_with_tolerance()).verdict, Verdict::unsure);
  EXPECT_EQ(decide_pairs(pairs_about(5, 0.2, 11), rule_with_tolerance()).pairs, 11u);
  EXPECT_EQ(decide_pairs(pairs_about(5, 0.2, 64), rule_with_tolerance()).pairs, 12u);  // settled there
  EXPECT_EQ(decide_pairs(wide_pairs(2, 8, 39), rule_with_tolerance()).pairs, 24u);
  EXPECT_EQ(decide_pairs(wide_pairs(2, 8, 500), rule_with_tolerance()).pairs, 64u);
}

TEST(Decision, ConstantPairsAndTiesDecideNothingByThemselves) {
  const Decision none = decide_pairs(std::vector<PairRatios>(12), rule_with_tolerance());
  EXPECT_EQ(none.verdict, Verdict::same);
  EXPECT_DOUBLE_EQ(none.gates[0].p_slower, 1);
  EXPECT_EQ(decide_pairs(pairs_about(5, 0, 12), rule_with_tolerance()).verdict, Verdict::slower);
}

TEST(Decision, RefusesWhatIsNoNumber) {
  std::vector<PairRatios> pairs = pairs_about(0, 0.2, 12);
  pairs[7].floor = std::numeric_limits<double>::quiet_NaN();
  try {
    decide_pairs(pairs, rule_with_tolerance());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_judge);
    EXPECT_STREQ(error.what(), "pair 8: the floor ratio is not a number: a launch has no usable step times");
  }
  pairs[7].floor = std::log(0.0);
  EXPECT_THROW(decide_pairs(pairs, rule_with_tolerance()), Error);
}

/// Ten workloads: 5 % / 10 for the first, so that one that just passes alone does not pass among ten; once
/// nine are slower, the tenth is judged as if alone.
TEST(Decision, SuitesStepDownByHolm) {
  std::vector<PairRatios> borderline;  // W below 2: p = 3/4096 = 0.00073, between 0.0005 and 0.001
  for (int rank = 1; rank <= 12; ++rank) {
    const double value = (rank == 2 ? -0.01 : 0.01) * rank;
    borderline.push_back({value, value, value});
  }
  const auto flat = pairs_about(0, 0.2, 12), slow = pairs_about(5, 0.2, 12);
  std::vector<std::vector<PairRatios>> workloads(9, flat);
  workloads.push_back(borderline);
  EXPECT_EQ(decide_pairs(borderline, rule_with_tolerance()).verdict, Verdict::slower);
  EXPECT_EQ(decide_suite(workloads, rule_with_tolerance()).back().verdict, Verdict::unsure);
  for (size_t i = 0; i < 9; ++i) workloads[i] = slow;
  const auto decisions = decide_suite(workloads, rule_with_tolerance());
  for (const Decision& decision : decisions) EXPECT_EQ(decision.verdict, Verdict::slower);
  EXPECT_TRUE(decide_suite({}, rule_with_tolerance()).empty());
}

}  // namespace
}  // namespace flopmark
