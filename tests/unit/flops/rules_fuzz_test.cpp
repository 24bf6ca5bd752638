#include <gtest/gtest.h>

#include <random>

#include "unit/flops/calls.h"

// Rules against naive loops that visit every multiply-add once and know no formula.

namespace flopmark {
namespace {

constexpr int kRounds = 300;

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  int64_t roll(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  bool coin() { return roll(0, 1) == 1; }
  Ints list(size_t count, int64_t low, int64_t high) {
    Ints values(count);
    for (auto& value : values) {
      value = roll(low, high);
    }
    return values;
  }

 private:
  std::mt19937_64 engine_;
};

/// Visits every point of a box and adds 2 for each.
int64_t visit(const Ints& bounds) {
  int64_t flop = 0;
  Ints at(bounds.size(), 0);
  for (const int64_t bound : bounds) {
    if (bound == 0) {
      return 0;
    }
  }
  while (true) {
    flop += 2;
    size_t i = 0;
    while (i < at.size() && ++at[i] == bounds[i]) {
      at[i++] = 0;
    }
    if (i == at.size()) {
      return flop;
    }
  }
}

TEST(RulesFuzz, Products) {
  Dice dice(1);
  for (int round = 0; round < kRounds; ++round) {
    const int64_t b = dice.roll(0, 5), m = dice.roll(0, 9), k = dice.roll(1, 9), n = dice.roll(1, 9);
    EXPECT_EQ(flop("aten::mm", {tensor({m, k}), tensor({k, n})}), visit({m, k, n}));
    EXPECT_EQ(flop("aten::bmm", {tensor({b, m, k}), tensor({b, k, n})}), visit({b, m, k, n}));
    EXPECT_EQ(flop("aten::mv", {tensor({m, k}), tensor({k})}), visit({m, k}));
  }
}

struct Convolution {
  int64_t batch, groups, in_per_group, out_per_group;
  Ints space, kernel, stride, padding, dilation;
};

Convolution random_convolution(Dice& dice) {
  const auto dimensions = static_cast<size_t>(dice.roll(1, 3));
  const int64_t side = dimensions == 3 ? 5 : 9;
  return {.batch = dice.roll(1, 3),
          .groups = dice.roll(1, 3),
          .in_per_group = dice.roll(1, 3),
          .out_per_group = dice.roll(1, 3),
          .space = dice.list(dimensions, 1, side),
          .kernel = dice.list(dimensions, 1, 3),
          .stride = dice.list(dimensions, 1, 3),
          .padding = dice.list(dimensions, 0, 2),
          .dilation = dice.list(dimensions, 1, 2)};
}

/// Positions of a kernel slid over the padded line, one by one.
int64_t slides(const Convolution& c, size_t i) {
  int64_t positions = 0;
  for (int64_t start = -c.padding[i]; start + c.dilation[i] * (c.kernel[i] - 1) < c.space[i] + c.padding[i];
       start += c.stride[i]) {
    ++positions;
  }
  return positions;
}

Ints joined(std::initializer_list<Ints> parts) {
  Ints all;
  for (const Ints& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

void expect_convolution(const Convolution& c, bool transposed, const Bools& mask) {
  const int64_t in = c.groups * c.in_per_group, out = c.groups * c.out_per_group;
  const Ints weight = joined({transposed ? Ints{in, c.out_per_group} : Ints{out, c.in_per_group}, c.kernel});
  Ints positions = c.space;
  for (size_t i = 0; i < c.space.size() && !transposed; ++i) {
    positions[i] = slides(c, i);
  }
  const int64_t naive =
      visit(joined({{c.batch, c.groups, c.in_per_group, c.out_per_group}, positions, c.kernel}));
  const Argument input = tensor(joined({{c.batch, in}, c.space}));
  const std::vector<Argument> tail = {c.stride, c.padding, c.dilation, transposed, Ints{0}, c.groups};
  std::vector<Argument> forward = {input, tensor(weight), kNone};
  forward.insert(forward.end(), tail.begin(), tail.end());
  EXPECT_EQ(flop("aten::convolution", forward), naive);
  std::vector<Argument> backward = {kNone, input, tensor(weight), kNone};
  backward.insert(backward.end(), tail.begin(), tail.end());
  backward.emplace_back(mask);
  EXPECT_EQ(flop("aten::convolution_backward", backward), (mask[0] ? naive : 0) + (mask[1] ? naive : 0));
}

TEST(RulesFuzz, Convolutions) {
  Dice dice(2);
  for (int round = 0; round < kRounds; ++round) {
    const Convolution c = random_convolution(dice);
    expect_convolution(c, dice.coin(), {dice.coin(), dice.coin(), dice.coin()});
  }
}

TEST(RulesFuzz, Attention) {
  Dice dice(3);
  for (int round = 0; round < kRounds; ++round) {
    const int64_t b = dice.roll(1, 3), kv_heads = dice.roll(1, 3), heads = kv_heads * dice.roll(1, 3);
    const int64_t queries = dice.roll(1, 7), keys = dice.roll(1, 7), e = dice.roll(1, 8), v = dice.roll(1, 8);
    const int64_t of_e = visit({b, heads, queries, keys, e}), of_v = visit({b, heads, queries, keys, v});
    const Argument query = tensor({b, heads, queries, e}), key = tensor({b, kv_heads, keys, e}),
                   value = tensor({b, kv_heads, keys, v});
    EXPECT_EQ(flop("aten::_scaled_dot_product_flash_attention_for_cpu", {query, key, value}), of_e + of_v);
    const OperatorFlop backward =
        flop_of("aten::_scaled_dot_product_flash_attention_for_cpu_backward", {kNone, query, key, value});
    EXPECT_EQ(backward.model_flop, 2 * of_e + 2 * of_v);
    EXPECT_EQ(backward.hardware_flop, 3 * of_e + 2 * of_v);
  }
}

}  // namespace
}  // namespace flopmark
