#include "models/llama.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "unit/models/shapes.h"

namespace flopmark {
namespace {

using torch::Tensor;

/// The same mathematics written out: real-valued rotation, repeated key heads, explicit mask and softmax.
struct PlainLlama {
  std::map<std::string, Tensor> w;
  int64_t layers = 2, heads = 4, kv_heads = 2, head_size = 16;

  static Tensor norm(const Tensor& x, const Tensor& weight) {
    return x * torch::rsqrt(x.pow(2).mean(-1, true) + 1e-5) * weight;
  }
  Tensor rotate(const Tensor& x) const {  // [B, T, H, D]
    const auto positions = torch::arange(x.size(1), torch::kFloat).view({-1, 1});
    const auto angles =
        positions *
        torch::pow(10000.0, -torch::arange(0, head_size, 2, torch::kFloat) / head_size).view({1, -1});
    const auto cos = angles.cos().unsqueeze(1), sin = angles.sin().unsqueeze(1);
    const auto even = x.slice(-1, 0, head_size, 2), odd = x.slice(-1, 1, head_size, 2);
    return torch::stack({even * cos - odd * sin, even * sin + odd * cos}, -1).flatten(-2);
  }
  Tensor attention(const std::string& path, const Tensor& x) const {
    const int64_t batch = x.size(0), length = x.size(1);
    const auto part = [&](const char* name, int64_t count) {
      return torch::matmul(x, w.at(path + name).t()).view({batch, length, count, head_size});
    };
    const auto q = rotate(part("wq.weight", heads)).transpose(1, 2);
    const auto k = rotate(part("wk.weight", kv_heads)).repeat_interleave(heads / kv_heads, 2).transpose(1, 2);
    const auto v = part("wv.weight", kv_heads).repeat_interleave(heads / kv_heads, 2).transpose(1, 2);
    const auto later = torch::ones({length, length}, torch::kBool).triu(1);
    const auto scores = torch::matmul(q, k.transpose(-2, -1)) / std::sqrt(static_cast<double>(head_size));
    const auto weights = torch::softmax(scores.masked_fill(later, -INFINITY), -1);
    const auto mixed = torch::matmul(weights, v).transpose(1, 2).reshape({batch, length, heads * head_size});
    return torch::matmul(mixed, w.at(path + "wo.weight").t());
  }
  Tensor logits(const Tensor& ids) const {
    auto x = w.at("tok_embeddings.weight").index({ids});
    for (int64_t layer = 0; layer < layers; ++layer) {
      const auto path = "layers." + std::to_string(layer);
      x = x + attention(path + ".attention.", norm(x, w.at(path + ".attention_norm.weight")));
      const auto y = norm(x, w.at(path + ".ffn_norm.weight"));
      const auto gate = torch::matmul(y, w.at(path + ".feed_forward.w1.weight").t());
      const auto up = torch::matmul(y, w.at(path + ".feed_forward.w3.weight").t());
      x = x + torch::matmul(gate * torch::sigmoid(gate) * up, w.at(path + ".feed_forward.w2.weight").t());
    }
    return torch::matmul(norm(x, w.at("norm.weight")), w.at("output.weight").t());
  }
  Tensor loss(const Batch& batch) const {
    const auto log_p = torch::log_softmax(logits(batch.inputs[0]), -1);
    return -log_p.gather(-1, batch.inputs[1].unsqueeze(-1)).mean();
  }
};

/// Weights large enough that attention is far from uniform and every gradient well above rounding.
Llama lively_model() {
  Llama model(test::tiny_llama(), {{}, 11});
  const torch::NoGradGuard no_grad;
  for (const auto& [name, value] : model.named_parameters()) {
    value.mul_(name.find("norm") == std::string::npos ? 6 : 1);
  }
  return model;
}

TEST(Llama, EqualsThePlainFormulas) {
  Llama model = lively_model();
  PlainLlama plain;
  for (const auto& [name, value] : model.named_parameters()) {
    plain.w[name] = value.detach().clone().requires_grad_();
  }
  const auto batch = test::random_tokens(2, 32, 256);
  const auto logits = model.logits(batch.inputs[0]), expected = plain.logits(batch.inputs[0]);
  EXPECT_LT((logits - expected).abs().max().item<double>(), 1e-5 * expected.abs().max().item<double>());

  const auto loss = model.loss(batch);
  loss.backward();
  const auto plain_loss = plain.loss(batch);
  plain_loss.backward();
  EXPECT_NEAR(loss.item<double>(), plain_loss.item<double>(), 1e-5);
  for (const auto& [name, value] : model.named_parameters()) {
    const auto reference = plain.w[name].grad();
    ASSERT_TRUE(value.grad().defined()) << name;
    EXPECT_GT(reference.abs().max().item<double>(), 1e-4) << name;
    EXPECT_LT((value.grad() - reference).abs().max().item<double>(),
              1e-5 * reference.abs().max().item<double>())
        << name;
  }
}

TEST(Llama, DoesNotLookAhead) {
  Llama model = lively_model();
  const auto ids = test::random_tokens(1, 16, 256).inputs[0];
  const auto before = model.logits(ids);
  auto changed = ids.clone();
  changed[0][9] = (ids[0][9].item<int64_t>() + 1) % 256;
  const auto moved = (model.logits(changed) - before).abs().amax({0, 2});
  EXPECT_EQ(moved.narrow(0, 0, 9).max().item<double>(), 0);
  EXPECT_GT(moved.narrow(0, 9, 7).min().item<double>(), 1e-4);
}

TEST(Llama, StartsNearAUniformGuess) {
  Llama model(test::tiny_llama(), {{}, 0});
  EXPECT_NEAR(model.loss(test::random_tokens(4, 32, 256)).item<double>(), std::log(256.0), 0.1);
}

TEST(Llama, ScalesResidualProjectionsWithDepth) {
  auto shape = test::tiny_llama();
  shape.layers = 8;
  Llama model(shape, {{}, 0});
  for (const auto& [name, value] : model.named_parameters()) {
    if (name == "layers.3.attention.wo.weight" || name == "layers.3.feed_forward.w2.weight") {
      EXPECT_NEAR(value.std().item<double>(), 0.02 / 4, 0.0003) << name;  // 1 / sqrt(2 x 8)
    } else if (name == "layers.3.attention.wq.weight" || name == "tok_embeddings.weight") {
      EXPECT_NEAR(value.std().item<double>(), 0.02, 0.001) << name;
    }
  }
}

TEST(Llama, ATiedHeadTrainsTheEmbedding) {
  auto shape = test::tiny_llama();
  shape.tied_embeddings = true;
  Llama model(shape, {{}, 0});
  const auto batch = test::random_tokens(1, 8, 256);
  model.loss(batch).backward();
  // With a head of its own only the rows of the eight tokens would have a gradient.
  const auto rows = model.named_parameters().front().value.grad().abs().amax(1);
  EXPECT_EQ(rows.gt(0).sum().item<int64_t>(), 256);
}

TEST(Llama, TrainsInBfloat16WithAFloat32Loss) {
  Llama model(test::tiny_llama(), {torch::kBFloat16, 0});
  const auto loss = model.loss(test::random_tokens(2, 32, 256));
  loss.backward();
  EXPECT_EQ(loss.scalar_type(), torch::kFloat);
  EXPECT_NEAR(loss.item<double>(), std::log(256.0), 0.1);
  for (const auto& [name, value] : model.named_parameters()) {
    EXPECT_EQ(value.scalar_type(), torch::kBFloat16) << name;
    EXPECT_TRUE(value.grad().isfinite().all().item<bool>()) << name;
  }
}

}  // namespace
}  // namespace flopmark
