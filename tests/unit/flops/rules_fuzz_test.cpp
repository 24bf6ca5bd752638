#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

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

TEST(RulesFuzz, ProductsWithABiasAndVectors) {
  Dice dice(4);
  for (int round = 0; round < kRounds; ++round) {
    const int64_t b = dice.roll(1, 5), m = dice.roll(1, 9), k = dice.roll(1, 9), n = dice.roll(1, 9);
    const int64_t one = visit({m, k, n}), batch = visit({b, m, k, n});
    for (const char* name : {"aten::addmm", "aten::addmm_", "aten::_addmm_activation"}) {
      EXPECT_EQ(flop(name, {tensor({n}), tensor({m, k}), tensor({k, n})}), one) << name;
    }
    for (const char* name : {"aten::baddbmm", "aten::baddbmm_", "aten::addbmm", "aten::addbmm_"}) {
      EXPECT_EQ(flop(name, {tensor({m, n}), tensor({b, m, k}), tensor({b, k, n})}), batch) << name;
    }
    for (const char* name : {"aten::_int_mm", "aten::_scaled_mm"}) {
      EXPECT_EQ(flop(name, {tensor({m, k}), tensor({k, n})}), one) << name;
    }
    EXPECT_EQ(flop("aten::addmv", {tensor({m}), tensor({m, k}), tensor({k})}), visit({m, k}));
    EXPECT_EQ(flop("aten::dot", {tensor({k}), tensor({k})}), visit({k}));
    EXPECT_EQ(flop("aten::outer", {tensor({m}), tensor({n})}), visit({m, n}));
    EXPECT_EQ(flop("aten::addr", {tensor({m, n}), tensor({m}), tensor({n})}), visit({m, n}));
    EXPECT_EQ(flop("aten::linear", {tensor({b, m, k}), tensor({n, k})}), batch);
    const Bools mask = {dice.coin(), dice.coin(), dice.coin()};
    EXPECT_EQ(flop("aten::linear_backward", {tensor({b, m, k}), tensor({b, m, n}), tensor({n, k}), mask}),
              (mask[0] ? batch : 0) + (mask[1] ? batch : 0));
  }
}

/// Ends of `groups` groups that together are `total` or less long, and the lengths.
std::pair<Ints, Ints> random_groups(Dice& dice, int64_t groups, int64_t total) {
  Ints ends = dice.list(static_cast<size_t>(groups), 0, total), lengths;
  std::sort(ends.begin(), ends.end());
  int64_t before = 0;
  for (const int64_t end : ends) {
    lengths.push_back(end - before);
    before = end;
  }
  return {ends, lengths};
}

TEST(RulesFuzz, GroupedProductsOneGroupAtATime) {
  Dice dice(5);
  for (int round = 0; round < kRounds; ++round) {
    const int64_t g = dice.roll(1, 4), m = dice.roll(1, 9), k = dice.roll(1, 9), n = dice.roll(1, 9);
    const auto [ends, lengths] = random_groups(dice, g, dice.roll(1, 12));
    const int64_t total = ends.back() + dice.roll(0, 3);
    int64_t rows = 0, columns = 0, contracted = 0;
    for (const int64_t length : lengths) {
      rows += visit({length, k, n});
      columns += visit({m, k, length});
      contracted += visit({m, length, n});
    }
    const char* name = "aten::_grouped_mm";
    EXPECT_EQ(flop(name, {tensor({total, k}), tensor({g, k, n}), offsets(ends)}), rows);
    EXPECT_EQ(flop(name, {tensor({g, m, k}), tensor({k, total}), offsets(ends)}), columns);
    EXPECT_EQ(flop(name, {tensor({m, total}), tensor({total, n}), offsets(ends)}), contracted);
    EXPECT_EQ(flop(name, {tensor({g, m, k}), tensor({g, k, n}), kNone}), g * visit({m, k, n}));
  }
}

struct Recurrent {
  int64_t steps, batch, input, hidden, layers, directions, gates;

  /// Columns of the input matrix: of the data in the first layer, of all directions below in the others.
  int64_t input_of(int64_t layer) const { return layer == 0 ? input : directions * hidden; }
};

/// One multiply-add at a time: each gate of each position of each direction of each layer.
int64_t visit_forward(const Recurrent& r) {
  int64_t flop = 0;
  for (int64_t layer = 0; layer < r.layers; ++layer) {
    flop += visit({r.directions, r.steps, r.batch, r.gates, r.hidden, r.input_of(layer)});
    flop += visit({r.directions, r.steps, r.batch, r.gates, r.hidden, r.hidden});
  }
  return flop;
}

/// The gradient of every matrix, and of what each was multiplied with as far as somebody wants it.
int64_t visit_backward(const Recurrent& r, bool input, bool state, bool weights) {
  int64_t flop = weights ? visit_forward(r) : 0;
  for (int64_t layer = 0; layer < r.layers; ++layer) {
    if (layer > 0 || input)
      flop += visit({r.directions, r.steps, r.batch, r.gates, r.hidden, r.input_of(layer)});
    flop += visit({r.directions, state ? r.steps : r.steps - 1, r.batch, r.gates, r.hidden, r.hidden});
  }
  return flop;
}

TEST(RulesFuzz, RecurrentLayers) {
  Dice dice(6);
  for (int round = 0; round < kRounds; ++round) {
    const int64_t kinds[] = {1, 3, 4};  // RNN, GRU, LSTM
    const Recurrent r{dice.roll(1, 4), dice.roll(1, 3), dice.roll(1, 4),       dice.roll(1, 4),
                      dice.roll(1, 3), dice.roll(1, 2), kinds[dice.roll(0, 2)]};
    std::vector<TensorShape> weights;
    for (int64_t i = 0; i < r.layers * r.directions; ++i) {
      const int64_t rows = r.gates * r.hidden;
      weights.push_back({.sizes = {rows, r.input_of(i / r.directions)}});
      weights.push_back({.sizes = {rows, r.hidden}});
      weights.push_back({.sizes = {rows}});
      weights.push_back({.sizes = {rows}});
    }
    const Argument input = tensor({r.steps, r.batch, r.input});
    const Argument state = tensor({r.layers * r.directions, r.batch, r.hidden});
    EXPECT_EQ(flop("aten::_cudnn_rnn", {input, weights}), visit_forward(r));
    const Bools mask = {dice.coin(), dice.coin(), dice.coin(), dice.coin()};
    std::vector<Argument> backward(22);
    backward[0] = input, backward[1] = weights, backward[2] = int64_t{4}, backward[4] = state;
    backward[17] = r.directions == 2, backward[21] = mask;
    EXPECT_EQ(flop("aten::_cudnn_rnn_backward", backward), visit_backward(r, mask[0], mask[1], mask[3]));
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

TEST(RulesFuzz, PackedAttentionOneSequenceAtATime) {
  Dice dice(7);
  for (int round = 0; round < kRounds; ++round) {
    const int64_t count = dice.roll(1, 4), heads = dice.roll(1, 3), e = dice.roll(1, 6), v = dice.roll(1, 6);
    Ints of_q = {0}, of_k = {0};
    int64_t keys = 0, values = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t queries = dice.roll(0, 5), others = dice.roll(0, 5);
      of_q.push_back(of_q.back() + queries);
      of_k.push_back(of_k.back() + others);
      keys += visit({heads, queries, others, e});
      values += visit({heads, queries, others, v});
    }
    const Argument query = tensor({of_q.back(), heads, e}), key = tensor({of_k.back(), heads, e}),
                   value = tensor({of_k.back(), heads, v});
    EXPECT_EQ(flop("aten::_flash_attention_forward", {query, key, value, offsets(of_q), offsets(of_k)}),
              keys + values);
    const OperatorFlop backward =
        flop_of("aten::_flash_attention_backward",
                {kNone, query, key, value, kNone, kNone, offsets(of_q), offsets(of_k)});
    EXPECT_EQ(backward.model_flop, 2 * keys + 2 * values);
    EXPECT_EQ(backward.hardware_flop, 3 * keys + 2 * values);
  }
}

}  // namespace
}  // namespace flopmark
