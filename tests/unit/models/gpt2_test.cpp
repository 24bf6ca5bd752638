#include "models/gpt2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "flopmark/error.h"
#include "unit/models/shapes.h"

namespace flopmark {
namespace {

using torch::Tensor;

const ModelShape kTiny = test::gpt2(100, 32, 2, 4, 16);

/// The same mathematics written out: explicit norms, mask, softmax and GELU.
struct PlainGpt2 {
  std::map<std::string, Tensor> w;

  Tensor linear(const std::string& path, const Tensor& x) const {
    return torch::matmul(x, w.at(path + ".weight").t()) + w.at(path + ".bias");
  }
  Tensor norm(const std::string& path, const Tensor& x) const {
    const auto centred = x - x.mean(-1, true);
    return centred * torch::rsqrt(centred.pow(2).mean(-1, true) + 1e-5) * w.at(path + ".weight") +
           w.at(path + ".bias");
  }
  static Tensor gelu(const Tensor& x) {
    return 0.5 * x * (1 + torch::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x.pow(3))));
  }
  Tensor attention(const std::string& path, const Tensor& x) const {
    const int64_t batch = x.size(0), length = x.size(1);
    const auto qkv = linear(path + ".c_attn", x);
    const auto heads = [&](int64_t part) {
      return qkv.slice(-1, part * 32, part * 32 + 32).reshape({batch, length, 4, 8}).transpose(1, 2);
    };
    const auto later = torch::ones({length, length}, torch::kBool).triu(1);
    const auto scores = torch::matmul(heads(0), heads(1).transpose(-2, -1)) / std::sqrt(8.0);
    const auto mixed = torch::matmul(torch::softmax(scores.masked_fill(later, -INFINITY), -1), heads(2));
    return linear(path + ".c_proj", mixed.transpose(1, 2).reshape({batch, length, 32}));
  }
  Tensor logits(const Tensor& ids) const {
    auto x = w.at("wte.weight").index({ids}) + w.at("wpe.weight").slice(0, 0, ids.size(1));
    for (const char* block : {"h.0", "h.1"}) {
      const std::string path = block;
      x = x + attention(path + ".attn", norm(path + ".ln_1", x));
      x = x + linear(path + ".mlp.c_proj", gelu(linear(path + ".mlp.c_fc", norm(path + ".ln_2", x))));
    }
    return torch::matmul(norm("ln_f", x), w.at("wte.weight").t());
  }
};

/// Random gains and biases too, so that leaving one out would show.
Gpt2 lively_gpt2() {
  Gpt2 model(kTiny, {{}, 4});
  const torch::NoGradGuard no_grad;
  for (const auto& [name, value] : model.named_parameters()) {
    if (value.dim() == 1) {
      value.add_(torch::linspace(-0.5, 0.5, value.numel()));
    } else {
      value.mul_(8);
    }
  }
  return model;
}

TEST(Gpt2, EqualsThePlainFormulas) {
  Gpt2 model = lively_gpt2();
  PlainGpt2 plain;
  for (const auto& [name, value] : model.named_parameters()) {
    plain.w[name] = value.detach().clone().requires_grad_();
  }
  const auto batch = test::random_tokens(2, 16, 100);
  const auto logits = model.logits(batch.inputs[0]), expected = plain.logits(batch.inputs[0]);
  EXPECT_LT((logits - expected).abs().max().item<double>(), 1e-5 * expected.abs().max().item<double>());

  logits.pow(2).mean().backward();
  expected.pow(2).mean().backward();
  for (const auto& [name, value] : model.named_parameters()) {
    const auto reference = plain.w[name].grad();
    EXPECT_LT((value.grad() - reference).abs().max().item<double>(),
              2e-5 * reference.abs().max().item<double>() + 1e-7)
        << name;
  }
}

TEST(Gpt2, DoesNotLookAhead) {
  Gpt2 model = lively_gpt2();
  const auto ids = test::random_tokens(1, 16, 100).inputs[0];
  auto changed = ids.clone();
  changed[0][9] = (ids[0][9].item<int64_t>() + 1) % 100;
  const auto moved = (model.logits(changed) - model.logits(ids)).abs().amax({0, 2});
  EXPECT_EQ(moved.narrow(0, 0, 9).max().item<double>(), 0);
  EXPECT_GT(moved.narrow(0, 9, 7).min().item<double>(), 1e-4);
}

TEST(Gpt2, StartsNearAUniformGuess) {
  Gpt2 model(kTiny, {{}, 0});
  EXPECT_NEAR(model.loss(test::random_tokens(4, 16, 100)).item<double>(), std::log(100.0), 0.1);
}

TEST(Gpt2, DropsOutOnlyWhenAsked) {
  const auto ids = test::random_tokens(2, 16, 100).inputs[0];
  Gpt2 plain(kTiny, {{}, 0});
  EXPECT_TRUE(plain.logits(ids).equal(plain.logits(ids)));
  auto shape = kTiny;
  shape.dropout = 0.1;
  Gpt2 dropping(shape, {{}, 0});
  EXPECT_FALSE(dropping.logits(ids).equal(dropping.logits(ids)));
}

TEST(Gpt2, RefusesASequenceLongerThanItsPositions) {
  Gpt2 model(kTiny, {{}, 0});
  try {
    model.logits(torch::zeros({1, 17}, torch::kLong));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("17 is longer than model.max_sequence_length = 16"));
  }
}

TEST(Gpt2, TrainsInBfloat16WithAFloat32Loss) {
  Gpt2 model(kTiny, {torch::kBFloat16, 0});
  const auto loss = model.loss(test::random_tokens(2, 16, 100));
  loss.backward();
  EXPECT_EQ(loss.scalar_type(), torch::kFloat);
  for (const auto& [name, value] : model.named_parameters()) {
    EXPECT_TRUE(value.grad().isfinite().all().item<bool>()) << name;
  }
}

}  // namespace
}  // namespace flopmark
