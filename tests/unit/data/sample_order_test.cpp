#include "data/sample_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <numeric>

namespace flopmark {
namespace {

using testing::ElementsAre;

std::vector<size_t> epoch(SampleOrder& order, int64_t number) {
  std::vector<size_t> all, indices;
  for (int64_t k = 0; k < order.batches_per_epoch(); ++k) {
    order.indices_of(number * order.batches_per_epoch() + k, indices);
    all.insert(all.end(), indices.begin(), indices.end());
  }
  return all;
}

TEST(SampleOrder, WithoutShuffleCountsUpAndStartsAgain) {
  SampleOrder order({.size = 7, .batch_size = 3, .drop_last = false, .shuffle = false});
  EXPECT_EQ(order.batches_per_epoch(), 3);
  std::vector<size_t> indices;
  order.indices_of(1, indices);
  EXPECT_THAT(indices, ElementsAre(3, 4, 5));
  order.indices_of(2, indices);
  EXPECT_THAT(indices, ElementsAre(6));
  order.indices_of(3, indices);
  EXPECT_THAT(indices, ElementsAre(0, 1, 2));
}

TEST(SampleOrder, DropLastLeavesThePartialBatchOut) {
  SampleOrder order({.size = 7, .batch_size = 3, .drop_last = true, .shuffle = false});
  EXPECT_EQ(order.batches_per_epoch(), 2);
  std::vector<size_t> indices;
  order.indices_of(2, indices);
  EXPECT_THAT(indices, ElementsAre(0, 1, 2));
}

TEST(SampleOrder, EveryEpochIsAnotherPermutation) {
  SampleOrder order({.size = 100, .batch_size = 8, .drop_last = false});
  std::vector<size_t> first = epoch(order, 0), second = epoch(order, 1);
  EXPECT_NE(first, second);
  std::vector<size_t> all(100);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_NE(first, all);
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  EXPECT_EQ(first, all);
  EXPECT_EQ(second, all);
}

TEST(SampleOrder, DependsOnTheSeedAndNotOnWhatWasAskedBefore) {
  const SampleOrderOptions options{.size = 50, .batch_size = 5, .seed = 7};
  SampleOrder forward(options), backward(options);
  std::vector<std::vector<size_t>> there, back;
  for (int64_t e = 0; e < 5; ++e) there.push_back(epoch(forward, e));
  for (int64_t e = 4; e >= 0; --e) back.insert(back.begin(), epoch(backward, e));
  EXPECT_EQ(there, back);
  SampleOrder other({.size = 50, .batch_size = 5, .seed = 8});
  EXPECT_NE(epoch(other, 0), there[0]);
}

TEST(SampleOrder, LeavesTheGlobalGeneratorAlone) {
  torch::manual_seed(3);
  const auto expected = torch::rand({4});
  torch::manual_seed(3);
  SampleOrder order({.size = 50, .batch_size = 5});
  const std::vector<size_t> first = epoch(order, 0);
  EXPECT_TRUE(torch::equal(torch::rand({4}), expected));
  torch::manual_seed(99);
  SampleOrder again({.size = 50, .batch_size = 5});
  EXPECT_EQ(epoch(again, 0), first);
}

TEST(SampleOrder, RefusesAnEpochWithoutABatch) {
  EXPECT_THROW(SampleOrder({.size = 3, .batch_size = 4}), std::invalid_argument);
  EXPECT_THROW(SampleOrder({.size = 0, .batch_size = 1}), std::invalid_argument);
}

// Public case A33: ranks never have more or fewer batches than others, nor samples in common.
TEST(SampleOrder, TheRanksBatchesTogetherAreThatOfOneRank) {
  for (const bool drop_last : {true, false}) {
    SampleOrder whole({.size = 53, .batch_size = 12, .drop_last = drop_last, .seed = 5});
    for (int64_t k = 0; k < 12; ++k) {
      std::vector<size_t> expected, joined;
      whole.indices_of(k, expected);
      for (int64_t rank = 0; rank < 3; ++rank) {
        SampleOrder order(
            {.size = 53, .batch_size = 4, .drop_last = drop_last, .seed = 5, .rank = rank, .ranks = 3});
        EXPECT_EQ(order.batches_per_epoch(), whole.batches_per_epoch());
        std::vector<size_t> indices;
        order.indices_of(k, indices);
        EXPECT_EQ(indices.size(), expected.size() / 3);
        joined.insert(joined.end(), indices.begin(), indices.end());
      }
      expected.resize(expected.size() / 3 * 3);  // of 5 left over each rank takes 1, nobody the other 2
      EXPECT_EQ(joined, expected) << k;
    }
  }
}

TEST(SampleOrder, SixSamplesOnFourRanksAreNoBatchOfTwoEach) {
  EXPECT_THROW(SampleOrder({.size = 6, .batch_size = 2, .rank = 0, .ranks = 4}), std::invalid_argument);
  SampleOrder order(
      {.size = 6, .batch_size = 2, .drop_last = false, .shuffle = false, .rank = 3, .ranks = 4});
  EXPECT_EQ(order.batches_per_epoch(), 1);
  std::vector<size_t> indices;
  order.indices_of(0, indices);
  EXPECT_THAT(indices, ElementsAre(3));
}

TEST(SampleOrder, RefusesARankThatIsNone) {
  EXPECT_THROW(SampleOrder({.size = 6, .rank = 2, .ranks = 2}), std::invalid_argument);
  EXPECT_THROW(SampleOrder({.size = 6, .rank = -1, .ranks = 2}), std::invalid_argument);
}

}  // namespace
}  // namespace flopmark
