#include "compare/paired_judge.h"

#include <gmock/gmock.h>

#include "compare/paired_reason.h"
#include "stats/random.h"
#include "unit/compare/pairs.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;

/// Pairs whose three summaries moved by these percents, 0.1 % to and fro.
std::vector<PairRatios> moved(double throughput, double typical, double floor, size_t count = 12) {
  std::vector<PairRatios> pairs;
  for (size_t i = 0; i < count; ++i) {
    const double noise = i % 2 == 0 ? 0.001 : -0.001;
    pairs.push_back({std::log1p(throughput / 100) + noise, std::log1p(typical / 100) + noise,
                     std::log1p(floor / 100) + noise});
  }
  return pairs;
}

TEST(PairedJudge, NamesWhereTheTimeWent) {
  const auto cause = [](double throughput, double typical, double floor) {
    return judge_pairs(moved(throughput, typical, floor), rule_with_tolerance()).cause.value();
  };
  EXPECT_EQ(cause(5, 5, 5), Cause::compute_path);
  EXPECT_EQ(cause(5, 0, 0), Cause::stall);
  EXPECT_EQ(cause(5, 4, 0), Cause::variance);
  EXPECT_EQ(cause(0, 0, 3), Cause::compute_path);
  EXPECT_EQ(cause(12, 2, 2), Cause::stall);  // a little work, a lot of waiting
}

/// In turns of ten steps each mean holds one stall, so that typical moves as the mean does.
TEST(PairedJudge, AStallInEveryTurnIsAStall) {
  std::vector<PairRatios> pairs = moved(5, 5, 0);
  for (PairRatios& pair : pairs) pair.median_step = 0;
  EXPECT_EQ(judge_pairs(pairs, rule_with_tolerance()).cause, Cause::stall);
  for (PairRatios& pair : pairs) pair.median_step = 0.04;
  EXPECT_EQ(judge_pairs(pairs, rule_with_tolerance()).cause, Cause::variance);
}

TEST(PairedJudge, SlowerSaysByHowMuchAndHowSure) {
  const PairedJudgement judgement = judge_pairs(moved(5, 5, 5), rule_with_tolerance());
  EXPECT_EQ(judgement.verdict, Verdict::slower);
  EXPECT_EQ(judgement.pairs, 12u);
  const SummaryJudgement& throughput = judgement.summaries[0];
  EXPECT_NEAR(throughput.change_ratio, 0.05, 1e-9);
  EXPECT_NEAR(*throughput.low_ratio, 1.05 * std::exp(-0.001) - 1, 1e-9);
  EXPECT_NEAR(*throughput.high_ratio, 1.05 * std::exp(0.001) - 1, 1e-9);
  EXPECT_TRUE(throughput.gates);
  EXPECT_FALSE(judgement.summaries[1].gates);
  EXPECT_EQ(judgement.reason, "mean step time is 5.0 % longer (at least 4.9 %) after 12 pairs; compute path");
  EXPECT_FALSE(judgement.may_go_on);
  EXPECT_FALSE(judgement.pairs_needed);
}

TEST(PairedJudge, ImprovementsAreReported) {
  const PairedJudgement judgement = judge_pairs(moved(-5, -5, -5), rule_with_tolerance());
  EXPECT_EQ(judgement.verdict, Verdict::faster);
  EXPECT_EQ(judgement.reason, "mean step time is 5.0 % shorter (at least 4.9 %) after 12 pairs");
  EXPECT_FALSE(judgement.cause);
}

TEST(PairedJudge, SameSaysWhatIsExcluded) {
  EXPECT_EQ(judge_pairs(moved(0.5, 0, 0), rule_with_tolerance()).reason,
            "not slower by more than 3.0 % (mean step time at most +0.60 %, 10 % quantile of the steps at "
            "most +0.10 %) after 12 pairs");
  EXPECT_THAT(judge_pairs(moved(0, 0, 0), rule_with_tolerance(0.04)).reason,
              HasSubstr("not slower by more than 6.0 %"));
  EXPECT_THAT(judge_pairs(moved(0, 0, 0), JudgeRule()).reason, HasSubstr("(uncalibrated)"));
}

TEST(PairedJudge, UnsureSaysHowManyPairsWouldDo) {
  const PairedJudgement judgement = judge_pairs(wide_pairs(2, 8, 64), rule_with_tolerance());
  EXPECT_EQ(judgement.verdict, Verdict::unsure);
  EXPECT_FALSE(judgement.may_go_on);
  // Whatever is nearer: 0 below the estimate, or 3 % above it; 4.47376 is (3.090232 + 1.281552) sqrt(pi / 3).
  const SummaryJudgement& throughput = judgement.summaries[0];
  const double estimate = std::log1p(throughput.change_ratio);
  const double gap = std::max(estimate >= std::log(1.01) ? estimate : 0.0, std::log(1.03) - estimate);
  ASSERT_TRUE(judgement.pairs_needed);
  EXPECT_NEAR(*judgement.pairs_needed, std::pow(4.47376 * throughput.sigma_ratio / gap, 2), 1.5);
  EXPECT_GT(*judgement.pairs_needed, 64);
  EXPECT_THAT(judgement.reason, HasSubstr("not settled after 64 pairs: mean step time from -"));
  EXPECT_THAT(judgement.reason, HasSubstr("pairs would settle it"));
}

TEST(PairedJudge, TooFewPairsSaySo) {
  const PairedJudgement judgement = judge_pairs(moved(5, 5, 5, 7), rule_with_tolerance());
  EXPECT_EQ(judgement.verdict, Verdict::unsure);
  EXPECT_TRUE(judgement.may_go_on);
  EXPECT_FALSE(judgement.summaries[0].low_ratio);  // 2^-7 is above the level
  EXPECT_EQ(judgement.reason, "7 pairs are too few: the first look is at 12");
}

TEST(PairedJudge, AgainstMidIsSaid) {
  JudgeRule rule = rule_with_tolerance();
  rule.mid_ratio = 0.025;
  EXPECT_THAT(judge_pairs(moved(5, 5, 5), rule).reason, HasSubstr(", judged against a change of +2.5 %"));
}

/// The effect called smallest is found with 90 % by normal pairs, and never below the tolerance.
TEST(PairedJudge, SmallestEffectKeepsItsPromise) {
  Random random(21);
  constexpr double kSigma = 0.03;
  const auto draw = [&](double shift) {
    std::vector<PairRatios> pairs;
    for (int i = 0; i < 24; ++i) {
      const double value = shift + kSigma * random.normal();
      pairs.push_back({value, value, value});
    }
    return pairs;
  };
  // c(24) = 1.01222 at one in a thousand: 3.0 %.
  const double effect = 1.01222 * kSigma;
  int found = 0;
  for (int trial = 0; trial < 400; ++trial) {
    found += decide_look(draw(effect), rule_with_tolerance()).verdict == Verdict::slower ? 1 : 0;
  }
  EXPECT_NEAR(found / 400.0, 0.9, 0.06);
  EXPECT_NEAR(judge_pairs(draw(0), rule_with_tolerance()).smallest_effect_ratio, effect, 0.015);
  EXPECT_GT(judge_pairs(moved(0, 0, 0), rule_with_tolerance(0.02)).smallest_effect_ratio, 0.02);
}

TEST(PairedJudge, PercentsCarryTheirSign) {
  EXPECT_EQ(signed_percent(0.051), "+5.1 %");
  EXPECT_EQ(signed_percent(-0.0003), "-0.03 %");
  EXPECT_EQ(signed_percent(0), "+0.00 %");
}

}  // namespace
}  // namespace flopmark
