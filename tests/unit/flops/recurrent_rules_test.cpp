#include <gtest/gtest.h>

#include "unit/flops/calls.h"

namespace flopmark {
namespace {

// Two bidirectional LSTM layers, input 3, hidden 5, T 4, B 2: 8 positions. Per direction, layer 1: 20 x 3 and
// 20 x 5; layer 2 reads both directions: 20 x 10 and 20 x 5.
std::vector<TensorShape> lstm_weights() {
  std::vector<TensorShape> weights;
  for (const int64_t inputs : {3, 3, 10, 10}) {
    weights.insert(weights.end(), {{{20, inputs}}, {{20, 5}}, {{20}}, {{20}}});
  }
  return weights;
}

constexpr int64_t kInput1 = 120, kInput2 = 400, kRecurrent = 200;  // values, both directions of a layer
constexpr int64_t kCellForward = 2 * 8 * (kInput1 + kInput2 + 2 * kRecurrent);

std::vector<Argument> cudnn_backward(const Bools& mask) {
  std::vector<Argument> arguments = {tensor({4, 2, 3}), lstm_weights(), int64_t{4}, tensor({1}),
                                     tensor({4, 2, 5})};
  arguments.resize(21, kNone);
  arguments[17] = true;
  arguments.emplace_back(mask);
  return arguments;
}

std::vector<Argument> miopen_backward(const Bools& mask) {
  auto arguments = cudnn_backward(mask);
  arguments.erase(arguments.begin() + 12);  // no projection size
  return arguments;
}

TEST(RecurrentRules, StackedForward) {
  for (const char* name : {"aten::_cudnn_rnn", "aten::miopen_rnn"}) {
    EXPECT_EQ(flop(name, {tensor({4, 2, 3}), lstm_weights(), int64_t{4}}), kCellForward) << name;
    EXPECT_EQ(flop(name, {tensor({8, 3}), lstm_weights(), int64_t{4}}), kCellForward)
        << name;  // packed sequences
  }
}

TEST(RecurrentRules, StackedBackwardByItsMask) {
  const int64_t first_state = 2 * 2 * 2 * kRecurrent;  // one position of each of 2 sequences, both layers
  using Arguments = std::vector<Argument> (*)(const Bools&);
  const std::pair<const char*, Arguments> kinds[] = {{"aten::_cudnn_rnn_backward", cudnn_backward},
                                                     {"aten::miopen_rnn_backward", miopen_backward}};
  for (const auto& [name, arguments] : kinds) {
    EXPECT_EQ(flop(name, arguments({true, true, true, true})), 2 * kCellForward) << name;
    EXPECT_EQ(flop(name, arguments({false, true, true, true})), 2 * kCellForward - 2 * 8 * kInput1) << name;
    EXPECT_EQ(flop(name, arguments({true, false, false, true})), 2 * kCellForward - first_state) << name;
    EXPECT_EQ(flop(name, arguments({true, true, true, false})), kCellForward) << name;
  }
}

TEST(RecurrentRules, ProjectionMatricesCount) {
  // Hidden 5 projected to 2: 20 x 3, 20 x 2, 2 x 5; the initial state touches the recurrent matrix only
  const std::vector<TensorShape> weights = {{{20, 3}}, {{20, 2}}, {{20}}, {{20}}, {{2, 5}}};
  EXPECT_EQ(flop("aten::_cudnn_rnn", {tensor({4, 2, 3}), weights, int64_t{5}}), 2 * 8 * (60 + 40 + 10));
  auto arguments = cudnn_backward({true, false, false, true});
  arguments[1] = weights;
  arguments[2] = int64_t{5};
  arguments[17] = false;
  EXPECT_EQ(flop("aten::_cudnn_rnn_backward", arguments), 2 * 2 * 8 * 110 - 2 * 2 * 40);
}

TEST(RecurrentRules, OneLayerByItsMarks) {
  const Ints x{4, 2, 3}, w1{20, 3}, w2{20, 5}, b{20}, state{2, 5};
  EXPECT_EQ(flop("aten::mkldnn_rnn_layer", {tensor(x), tensor(w1), tensor(w2), tensor(b), tensor(b)}),
            2 * 8 * 160);
  const auto backward = [&](const Argument& input, const Argument& weight, const Argument& hidden) {
    return flop("aten::mkldnn_rnn_layer_backward",
                {input, weight, tensor(w2), tensor(b), tensor(b), hidden, hidden});
  };
  EXPECT_EQ(backward(tensor(x), tensor(w1), tensor(state)), 2 * 2 * 8 * 160);
  EXPECT_EQ(backward(frozen(x), tensor(w1), tensor(state)), 2 * 2 * 8 * 160 - 2 * 8 * 60);
  EXPECT_EQ(backward(tensor(x), tensor(w1), frozen(state)), 2 * 2 * 8 * 160 - 2 * 2 * 100);
  EXPECT_EQ(backward(tensor(x), frozen(w1), tensor(state)), 2 * 2 * 8 * 160 - 2 * 8 * 60);
}

}  // namespace
}  // namespace flopmark
