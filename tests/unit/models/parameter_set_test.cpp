#include "models/parameter_set.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

namespace flopmark {
namespace {

constexpr int64_t kSize = 300'000;  // 19 chunks, the last one short: enough for several threads

torch::Tensor filled(const torch::TensorOptions& options, const InitialValue& initial, int64_t seed) {
  ParameterSet set(options);
  const auto value = set.create("w", {kSize / 100, 100}, initial);
  set.initialise(seed);
  return value.detach();
}

TEST(ParameterSet, DoesNotDependOnThreads) {
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto alone = filled({}, InitialValue::normal(1), 3);
  at::set_num_threads(4);
  const auto together = filled({}, InitialValue::normal(1), 3);
  at::set_num_threads(threads);
  EXPECT_TRUE(alone.equal(together));
}

TEST(ParameterSet, DrawsTheDistributionAskedFor) {
  // Standard errors with n = 300000: mean s / sqrt(n) = 0.0018 s, deviation s / sqrt(2 n) = 0.0013 s.
  const auto normal = filled({}, InitialValue::normal(0.02), 1);
  EXPECT_NEAR(normal.mean().item<double>(), 0, 5 * 0.0018 * 0.02);
  EXPECT_NEAR(normal.std().item<double>(), 0.02, 5 * 0.0013 * 0.02);
  const auto uniform = filled({}, InitialValue::uniform(0.5), 1);
  EXPECT_GE(uniform.min().item<double>(), -0.5);
  EXPECT_LT(uniform.min().item<double>(), -0.499);
  EXPECT_LE(uniform.max().item<double>(), 0.5);
  EXPECT_GT(uniform.max().item<double>(), 0.499);
  EXPECT_NEAR(uniform.std().item<double>(), 1 / std::sqrt(12.0), 0.002);
  EXPECT_TRUE(filled({}, InitialValue::constant(1), 1).eq(1).all().item<bool>());
}

TEST(ParameterSet, RepeatsNothingBetweenChunksAndParameters) {
  ParameterSet set{torch::TensorOptions()};
  const auto one = set.create("one", {kSize}, InitialValue::normal(1));
  const auto two = set.create("two", {kSize}, InitialValue::normal(1));
  set.initialise(0);
  EXPECT_FALSE(one.equal(two));
  const auto chunks = one.detach().narrow(0, 0, 16 * 16384).view({16, 16384});
  EXPECT_EQ(chunks.unsqueeze(0).eq(chunks.unsqueeze(1)).all(-1).sum().item<int64_t>(),
            16);  // only with itself
}

TEST(ParameterSet, RoundsTheSameValuesToBfloat16) {
  const auto exact = filled({}, InitialValue::normal(0.02), 5);
  const auto rounded = filled(torch::kBFloat16, InitialValue::normal(0.02), 5);
  EXPECT_EQ(rounded.scalar_type(), torch::kBFloat16);
  EXPECT_TRUE(rounded.equal(exact.to(torch::kBFloat16)));
}

TEST(ParameterSet, CreatesLeavesWithNamesInOrder) {
  ParameterSet set{torch::TensorOptions()};
  set.create("a", {2}, InitialValue::constant(0));
  set.create("b.weight", {3, 4}, InitialValue::normal(1));
  ASSERT_EQ(set.all().size(), 2U);
  EXPECT_EQ(set.all()[1].name, "b.weight");
  EXPECT_TRUE(set.all()[1].value.is_leaf());
  EXPECT_TRUE(set.all()[1].value.requires_grad());
}

TEST(ParameterSet, StartsTheSameWithItsChannelsLast) {
  ParameterSet plain{torch::TensorOptions()}, last(torch::TensorOptions(), /*channels_last=*/true);
  for (ParameterSet* set : {&plain, &last}) {
    set->create("conv", {8, 5, 3, 3}, InitialValue::normal(1));
    set->create("linear", {4, 6}, InitialValue::uniform(1));
    set->initialise(3);
  }
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(plain.all()[i].value.equal(last.all()[i].value)) << i;
  EXPECT_TRUE(last.all()[0].value.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_FALSE(last.all()[0].value.is_contiguous());
  EXPECT_TRUE(last.all()[0].value.requires_grad() && last.all()[0].value.is_leaf());
  EXPECT_TRUE(last.all()[1].value.is_contiguous());
}

}  // namespace
}  // namespace flopmark
