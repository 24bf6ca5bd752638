#include "measure/joined_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace flopmark {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

/// A block of steps whose time is all forward.
BlockSamples block_of(const std::vector<double>& step_s) {
  BlockSamples block;
  block.steps = std::ssize(step_s);
  block.step_s = step_s;
  for (auto& phase : block.phase_s) phase.assign(step_s.size(), 0.0);
  block.phase_s[static_cast<size_t>(Phase::forward)] = step_s;
  block.samples = 10;
  block.tokens = 100;
  return block;
}

RankSamples rank_of(const std::vector<double>& step_s) {
  RankSamples rank;
  rank.step_s = step_s;
  rank.samples = 10;
  rank.tokens = 100;
  rank.images = 1;
  return rank;
}

double phases_of_step(const BlockSamples& block, size_t step) {
  double sum_s = 0;
  for (const auto& phase : block.phase_s) sum_s += phase.at(step);
  return sum_s;
}

TEST(JoinedBlock, TheSlowestRankDecidesAStep) {
  BlockSamples block = block_of({1, 1});
  join_ranks(block, {rank_of({1, 1}), rank_of({3, 2})});
  EXPECT_THAT(block.step_s, ElementsAre(3, 2));
  EXPECT_THAT(block.phase_s[static_cast<size_t>(Phase::communication)], ElementsAre(2, 1));
}

TEST(JoinedBlock, ItCountsWhatAllProcessed) {
  BlockSamples block = block_of({1});
  join_ranks(block, {rank_of({1}), rank_of({1}), rank_of({1})});
  EXPECT_EQ(block.samples, 30);
  EXPECT_EQ(block.tokens, 300);
  EXPECT_EQ(block.images, 3);
}

// Ranks that are late by turns must not add up to more than the job took.
TEST(JoinedBlock, StepsAddUpToTheWhole) {
  BlockSamples block = block_of({1, 3, 1, 3});
  join_ranks(block, {rank_of({1, 3, 1, 3}), rank_of({3, 1, 3, 1})});
  EXPECT_DOUBLE_EQ(std::accumulate(block.step_s.begin(), block.step_s.end(), 0.0), 8);
  EXPECT_THAT(block.step_s, ElementsAre(3, 1, 3, 1));
}

TEST(JoinedBlock, PhasesAddUpToEachStep) {
  BlockSamples block = block_of({1, 3, 1});
  block.phase_s[static_cast<size_t>(Phase::forward)] = {0.5, 2, 0.5};
  block.phase_s[static_cast<size_t>(Phase::backward)] = {0.5, 1, 0.5};
  join_ranks(block, {rank_of({1, 3, 1}), rank_of({2, 1, 2})});
  for (size_t i = 0; i < 3; ++i)
    EXPECT_THAT(phases_of_step(block, i), DoubleNear(block.step_s[i], 1e-12)) << i;
}

TEST(JoinedBlock, OneBlockWithoutAnExchangePhaseGetsOne) {
  BlockSamples block = block_of({1});
  block.phase_s[static_cast<size_t>(Phase::communication)].clear();
  join_ranks(block, {rank_of({1})});
  EXPECT_THAT(block.phase_s[static_cast<size_t>(Phase::communication)], ElementsAre(0));
}

}  // namespace
}  // namespace flopmark
