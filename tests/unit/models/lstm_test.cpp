#include "models/lstm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "unit/models/shapes.h"

namespace flopmark {
namespace {

using torch::Tensor;

/// The same mathematics written out, position by position (Hochreiter and Schmidhuber 1997, with the forget
/// gate of Gers et al. 2000).
struct PlainLstm {
  std::map<std::string, Tensor> w;
  int64_t layers = 2, hidden = 12;

  Tensor layer(int64_t index, const Tensor& x) const {
    const auto part = [&](const char* name) {
      return w.at(name + std::string("_l") + std::to_string(index));
    };
    auto h = torch::zeros({x.size(0), hidden}), c = h;
    std::vector<Tensor> outputs;
    for (int64_t t = 0; t < x.size(1); ++t) {
      const auto gates = torch::matmul(x.select(1, t), part("lstm.weight_ih").t()) + part("lstm.bias_ih") +
                         torch::matmul(h, part("lstm.weight_hh").t()) + part("lstm.bias_hh");
      const auto gate = [&](int64_t place) { return gates.slice(1, place * hidden, (place + 1) * hidden); };
      c = torch::sigmoid(gate(1)) * c + torch::sigmoid(gate(0)) * torch::tanh(gate(2));
      h = torch::sigmoid(gate(3)) * torch::tanh(c);
      outputs.push_back(h);
    }
    return torch::stack(outputs, 1);
  }
  Tensor logits(const Tensor& ids) const {
    auto x = w.at("embedding.weight").index({ids});
    for (int64_t i = 0; i < layers; ++i) x = layer(i, x);
    return torch::matmul(x, w.at("decoder.weight").t()) + w.at("decoder.bias");
  }
};

TEST(Lstm, EqualsALoopOfCells) {
  Lstm model(test::tiny_lstm(), {{}, 4});
  PlainLstm plain;
  {
    const torch::NoGradGuard no_grad;
    for (const auto& [name, value] : model.named_parameters()) {
      value.mul_(3);
      if (name == "decoder.bias") value.copy_(torch::linspace(-1, 1, value.numel()));
      plain.w[name] = value.detach().clone().requires_grad_();
    }
  }
  const auto batch = test::random_tokens(3, 9, 100);
  const auto logits = model.logits(batch.inputs[0]), expected = plain.logits(batch.inputs[0]);
  EXPECT_LT((logits - expected).abs().max().item<double>(), 1e-5 * expected.abs().max().item<double>());
  logits.pow(2).mean().backward();
  expected.pow(2).mean().backward();
  for (const auto& [name, value] : model.named_parameters()) {
    const auto reference = plain.w[name].grad();
    ASSERT_TRUE(value.grad().defined()) << name;
    EXPECT_LT((value.grad() - reference).abs().max().item<double>(),
              1e-4 * reference.abs().max().item<double>() + 1e-7)
        << name;
  }
}

TEST(Lstm, DoesNotLookAhead) {
  Lstm model(test::tiny_lstm(), {{}, 0});
  const auto ids = test::random_tokens(1, 9, 100).inputs[0];
  auto changed = ids.clone();
  changed[0][5] = (ids[0][5].item<int64_t>() + 1) % 100;
  const auto moved = (model.logits(changed) - model.logits(ids)).abs().amax({0, 2});
  EXPECT_EQ(moved.narrow(0, 0, 5).max().item<double>(), 0);
  EXPECT_GT(moved.narrow(0, 5, 4).min().item<double>(), 0);
}

TEST(Lstm, StartsNearAUniformGuess) {
  Lstm model(test::tiny_lstm(), {{}, 0});
  EXPECT_NEAR(model.loss(test::random_tokens(4, 16, 100)).item<double>(), std::log(100.0), 0.1);
}

TEST(Lstm, DropsOutOnlyWhenAsked) {
  const auto ids = test::random_tokens(2, 9, 100).inputs[0];
  Lstm plain(test::tiny_lstm(), {{}, 0});
  EXPECT_TRUE(plain.logits(ids).equal(plain.logits(ids)));
  auto shape = test::tiny_lstm();
  shape.dropout = 0.5;
  Lstm dropping(shape, {{}, 0});
  EXPECT_FALSE(dropping.logits(ids).equal(dropping.logits(ids)));
}

TEST(Lstm, ATiedHeadTrainsTheEmbedding) {
  auto shape = test::tiny_lstm();
  shape.tied_embeddings = true;
  Lstm model(shape, {{}, 0});
  model.loss(test::random_tokens(1, 8, 100)).backward();
  const auto rows = model.named_parameters().front().value.grad().abs().amax(1);
  EXPECT_EQ(rows.gt(0).sum().item<int64_t>(), 100);
}

TEST(Lstm, TrainsInBfloat16WithAFloat32Loss) {
  Lstm model(test::tiny_lstm(), {torch::kBFloat16, 0});
  const auto loss = model.loss(test::random_tokens(2, 9, 100));
  loss.backward();
  EXPECT_EQ(loss.scalar_type(), torch::kFloat);
  for (const auto& [name, value] : model.named_parameters()) {
    EXPECT_TRUE(value.grad().isfinite().all().item<bool>()) << name;
  }
}

}  // namespace
}  // namespace flopmark
