#include "models/bert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "flopmark/error.h"
#include "unit/models/shapes.h"

namespace flopmark {
namespace {

using torch::Tensor;

/// The same mathematics written out: explicit norms, softmax and GELU.
struct PlainBert {
  std::map<std::string, Tensor> w;

  Tensor linear(const std::string& path, const Tensor& x) const {
    return torch::matmul(x, w.at(path + ".weight").t()) + w.at(path + ".bias");
  }
  Tensor norm(const std::string& path, const Tensor& x) const {
    const auto centred = x - x.mean(-1, true);
    return centred * torch::rsqrt(centred.pow(2).mean(-1, true) + 1e-12) * w.at(path + ".weight") +
           w.at(path + ".bias");
  }
  static Tensor gelu(const Tensor& x) { return 0.5 * x * (1 + torch::erf(x / std::sqrt(2.0))); }
  Tensor attention(const std::string& path, const Tensor& x) const {
    const auto heads = [&](const char* name) {
      return linear(path + ".self." + name, x).reshape({x.size(0), x.size(1), 4, 8}).transpose(1, 2);
    };
    const auto scores = torch::matmul(heads("query"), heads("key").transpose(-2, -1)) / std::sqrt(8.0);
    const auto mixed = torch::matmul(torch::softmax(scores, -1), heads("value"));
    return linear(path + ".output.dense", mixed.transpose(1, 2).reshape(x.sizes()));
  }
  Tensor logits(const Tensor& ids) const {
    auto x = norm("embeddings.LayerNorm",
                  w.at("embeddings.word_embeddings.weight").index({ids}) +
                      w.at("embeddings.position_embeddings.weight").slice(0, 0, ids.size(1)) +
                      w.at("embeddings.token_type_embeddings.weight").slice(0, 0, 1));
    for (const char* block : {"encoder.layer.0", "encoder.layer.1"}) {
      const std::string path = block;
      x = norm(path + ".attention.output.LayerNorm", x + attention(path + ".attention", x));
      x = norm(path + ".output.LayerNorm",
               x + linear(path + ".output.dense", gelu(linear(path + ".intermediate.dense", x))));
    }
    const std::string head = "cls.predictions.";
    x = norm(head + "transform.LayerNorm", gelu(linear(head + "transform.dense", x)));
    return torch::matmul(x, w.at("embeddings.word_embeddings.weight").t()) + w.at(head + "bias");
  }
};

/// Random gains and biases too, so that leaving one out would show.
Bert lively_bert() {
  Bert model(test::tiny_bert(), {{}, 4});
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

TEST(Bert, EqualsThePlainFormulas) {
  Bert model = lively_bert();
  PlainBert plain;
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

TEST(Bert, LooksBothWays) {
  Bert model = lively_bert();
  const auto ids = test::random_tokens(1, 16, 100).inputs[0];
  auto changed = ids.clone();
  changed[0][9] = (ids[0][9].item<int64_t>() + 1) % 100;
  const auto moved = (model.logits(changed) - model.logits(ids)).abs().amax({0, 2});
  EXPECT_GT(moved.min().item<double>(), 1e-6);
}

TEST(Bert, ItsLossIsOfTheChosenTokensOnly) {
  Bert model = lively_bert();
  Batch batch = test::random_tokens(2, 16, 100);
  const auto everywhere = batch.inputs[1].clone();
  batch.inputs[1].fill_(-100);
  batch.inputs[1][0][3] = everywhere[0][3];
  batch.inputs[1][1][15] = everywhere[1][15];
  const auto scores = torch::log_softmax(model.logits(batch.inputs[0]), -1);
  const auto of = [&](int64_t row, int64_t place) {
    return -scores[row][place][everywhere[row][place].item<int64_t>()].item<double>();
  };
  EXPECT_NEAR(model.loss(batch).item<double>(), (of(0, 3) + of(1, 15)) / 2, 1e-4);
}

TEST(Bert, StartsNearAUniformGuess) {
  Bert model(test::tiny_bert(), {{}, 0});
  EXPECT_NEAR(model.loss(test::random_tokens(4, 16, 100)).item<double>(), std::log(100.0), 0.1);
}

TEST(Bert, DropsOutOnlyWhenAsked) {
  const auto ids = test::random_tokens(2, 16, 100).inputs[0];
  Bert plain(test::tiny_bert(), {{}, 0});
  EXPECT_TRUE(plain.logits(ids).equal(plain.logits(ids)));
  auto shape = test::tiny_bert();
  shape.dropout = 0.1;
  Bert dropping(shape, {{}, 0});
  EXPECT_FALSE(dropping.logits(ids).equal(dropping.logits(ids)));
}

TEST(Bert, RefusesASequenceLongerThanItsPositions) {
  Bert model(test::tiny_bert(), {{}, 0});
  try {
    model.logits(torch::zeros({1, 17}, torch::kLong));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("17 is longer than model.max_sequence_length = 16"));
  }
}

TEST(Bert, TrainsInBfloat16WithAFloat32Loss) {
  Bert model(test::tiny_bert(), {torch::kBFloat16, 0});
  const auto loss = model.loss(test::random_tokens(2, 16, 100));
  loss.backward();
  EXPECT_EQ(loss.scalar_type(), torch::kFloat);
  for (const auto& [name, value] : model.named_parameters()) {
    EXPECT_TRUE(value.grad().isfinite().all().item<bool>()) << name;
  }
}

TEST(Bert, CheckpointedBlocksGiveTheSameGradients) {
  const auto gradients = [](int64_t interval) {
    Bert model(test::tiny_bert(), {.tensor = {}, .seed = 4, .checkpoint_interval = interval});
    model.loss(test::random_tokens(2, 16, 100)).backward();
    std::vector<Tensor> all;
    for (const auto& parameter : model.parameters()) all.push_back(parameter.grad());
    return all;
  };
  const auto plain = gradients(0), checkpointed = gradients(1);
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(plain[i].equal(checkpointed[i])) << i;
}

}  // namespace
}  // namespace flopmark
