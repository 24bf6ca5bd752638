#include "pool_judging.h"

#include <gtest/gtest.h>

#include <cmath>

namespace flopmark::benchmarks {
namespace {

/// Pairs around `shift` whose sizes all differ, half above and half below it.
std::vector<PairRatios> around(double shift, size_t count) {
  std::vector<PairRatios> pairs;
  for (size_t i = 0; i < count; ++i) {
    const double off = (i % 2 == 0 ? 1e-5 : -1e-5) * static_cast<double>(i + 1);
    pairs.push_back({shift + off, shift + off, shift + off});
  }
  return pairs;
}

std::vector<PairRatios> joined(std::vector<PairRatios> first, const std::vector<PairRatios>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

PoolRow row_of(int64_t a_us, int64_t b_us) {
  PoolRow row;
  for (int64_t i = 0; i < 10; ++i) {
    row.a_us.push_back(a_us + i);
    row.b_us.push_back(b_us + i);
  }
  return row;
}

bool new_mean_is_longer(const testing::Launches& old_s, const testing::Launches& new_s, Random&) {
  double sum = 0;
  for (const auto& launch_s : new_s) sum += launch_s.front();
  for (const auto& launch_s : old_s) sum -= launch_s.front();
  return sum > 1e-9;
}

TEST(PoolJudgingTest, WindowsAreDisjointAndTheRestIsLeftOut) {
  // One slow window of 12, one quiet one, and 11 slow pairs that make no window.
  const auto pairs = joined(joined(around(0.08, 12), around(0, 12)), around(0.08, 11));
  const VerdictCounts counts = judge_windows(pairs, JudgeRule{}, 12);
  EXPECT_EQ(counts.trials, 2U);
  EXPECT_EQ(counts.slower, 1U);
  EXPECT_EQ(counts.same, 1U);
  EXPECT_EQ(counts.unsure, 0U);
  EXPECT_EQ(counts.floor_not_slower, 1U);
}

TEST(PoolJudgingTest, AWindowOfTwelveIsOneLookWithTheWholeLevel) {
  const JudgeRule rule = rule_up_to(JudgeRule{}, 12);
  EXPECT_EQ(rule.looks, (std::vector<size_t>{12}));
  EXPECT_DOUBLE_EQ(rule.level_per_look(), 0.01);
  EXPECT_EQ(rule_up_to(JudgeRule{}, 24).looks, (std::vector<size_t>{12, 16, 24}));
}

TEST(PoolJudgingTest, ExchangedSidesTurnSlowerIntoFaster) {
  const auto pairs = around(0.08, 12);
  EXPECT_EQ(judge_windows(pairs, JudgeRule{}, 12).slower, 1U);
  EXPECT_EQ(judge_windows(exchanged(pairs), JudgeRule{}, 12).faster, 1U);
}

TEST(PoolJudgingTest, ResamplesKeepTheSignAndSignedOnesDoNot) {
  const auto pairs = around(0.08, 30);
  const VerdictCounts kept = judge_resamples(pairs, JudgeRule{}, 50, 1);
  EXPECT_EQ(kept.trials, 50U);
  EXPECT_EQ(kept.slower, 50U);
  const VerdictCounts drawn = judge_signed_resamples(pairs, JudgeRule{}, 200, 1);
  EXPECT_EQ(drawn.trials, 200U);
  EXPECT_LE(drawn.slower, 6U);
  EXPECT_EQ(judge_signed_resamples(pairs, JudgeRule{}, 200, 1).unsure, drawn.unsure);  // same seed
}

TEST(PoolJudgingTest, AnEmptyPoolGivesNoTrialsAndNoBound) {
  EXPECT_EQ(judge_windows({}, JudgeRule{}, 12).trials, 0U);
  EXPECT_EQ(judge_resamples({}, JudgeRule{}, 10, 1).trials, 0U);
  EXPECT_EQ(VerdictCounts{}.slower_bound(), 1);
}

TEST(PoolJudgingTest, TheBoundIsTheBinomialOne) {
  VerdictCounts counts;
  counts.trials = 20;
  EXPECT_NEAR(counts.slower_bound(), 1 - std::pow(0.05, 1.0 / 20), 1e-9);  // none of 20: 13.9 %
}

TEST(PoolJudgingTest, RivalsSeeSideAAndThenSideBOfTwentyPairs) {
  const testing::Rival rival{"longer", new_mean_is_longer};
  std::vector<PoolRow> rows(10, row_of(1000, 5000));  // their b comes too early to count
  rows.insert(rows.end(), 10, row_of(9000, 1000));    // their a comes too late
  rows.insert(rows.end(), 9, row_of(1, 2));           // no trial
  const RivalCounts after = rival_one_after_other(rival, rows, 1);
  EXPECT_EQ(after.trials, 1U);
  EXPECT_EQ(after.flagged, 0U);
  const RivalCounts beside = rival_side_by_side(rival, rows, 1);
  EXPECT_EQ(beside.trials, 2U);
  EXPECT_EQ(beside.flagged, 1U);
}

}  // namespace
}  // namespace flopmark::benchmarks
