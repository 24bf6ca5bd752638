#include "models/feed_forward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "flopmark/error.h"
#include "models/llama.h"
#include "unit/models/shapes.h"

namespace flopmark {
namespace {

using torch::Tensor;

struct MixtureModel {
  ParameterSet parameters;
  Mixture mixture;

  MixtureModel(int64_t experts, int64_t per_token, const torch::TensorOptions& options = {})
      : parameters(options),
        mixture(make_mixture(parameters, "moe",
                             {.experts = experts,
                              .per_token = per_token,
                              .expert = {.hidden = 6, .inner = 5, .residual = InitialValue::normal(1)}})) {
    parameters.initialise(2);
    const torch::NoGradGuard no_grad;
    for (const auto& [name, value] : parameters.all()) value.mul_(name.ends_with("w2.weight") ? 1 : 40);
  }
  Tensor gradient_of(const std::string& name) const {
    for (const auto& [known, value] : parameters.all()) {
      if (known == name) return value.grad();
    }
    ADD_FAILURE() << "no parameter " << name;
    return {};
  }
};

Tensor plain_expert(const FeedForward& expert, const Tensor& x, std::map<const void*, Tensor>& leaves) {
  const auto leaf = [&](const Linear& linear) {
    auto& copy = leaves[linear.weight.unsafeGetTensorImpl()];
    if (!copy.defined()) copy = linear.weight.detach().clone().requires_grad_();
    return copy.t();
  };
  const auto gate = torch::matmul(x, leaf(expert.w1));
  return torch::matmul(gate * torch::sigmoid(gate) * torch::matmul(x, leaf(expert.w3)), leaf(expert.w2));
}

/// Token by token: the best experts of each, looked for one after the other.
Tensor plain_mixture(const Mixture& mixture, const Tensor& x, std::map<const void*, Tensor>& leaves) {
  auto& router = leaves[mixture.router.weight.unsafeGetTensorImpl()];
  router = mixture.router.weight.detach().clone().requires_grad_();
  std::vector<Tensor> outputs;
  for (int64_t t = 0; t < x.size(0); ++t) {
    const auto p = torch::softmax(torch::matmul(router, x[t]), 0);
    std::vector<int64_t> order(mixture.experts.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    std::sort(order.begin(), order.end(),
              [&](int64_t a, int64_t b) { return p[a].item<float>() > p[b].item<float>(); });
    Tensor sum, output;
    for (int64_t k = 0; k < mixture.per_token; ++k) {
      const int64_t expert = order[static_cast<size_t>(k)];
      const auto part =
          p[expert] * plain_expert(mixture.experts[static_cast<size_t>(expert)], x[t].unsqueeze(0), leaves);
      output = k == 0 ? part : output + part;
      sum = k == 0 ? p[expert] : sum + p[expert];
    }
    outputs.push_back(output / sum);
  }
  return torch::cat(outputs);
}

TEST(Mixture, EqualsTheSumOfTheBestExperts) {
  for (const int64_t per_token : {1, 2, 5}) {
    const MixtureModel model(5, per_token);
    auto x = torch::randn({33, 6}, at::detail::createCPUGenerator(7)).requires_grad_();
    auto plain_x = x.detach().clone().requires_grad_();
    std::map<const void*, Tensor> leaves;
    const auto y = model.mixture(x), expected = plain_mixture(model.mixture, plain_x, leaves);
    EXPECT_TRUE(torch::allclose(y, expected, 1e-4, 1e-5)) << per_token;
    const auto weights = torch::linspace(-1, 1, y.numel()).view(y.sizes());
    (y * weights).sum().backward();
    (expected * weights).sum().backward();
    EXPECT_TRUE(torch::allclose(x.grad(), plain_x.grad(), 1e-3, 1e-4)) << per_token;
    for (const auto& [name, value] : model.parameters.all()) {
      ASSERT_TRUE(value.grad().defined()) << name;
      const auto& plain = leaves[value.unsafeGetTensorImpl()];
      const auto reference =
          plain.defined() && plain.grad().defined() ? plain.grad() : torch::zeros_like(value);
      EXPECT_TRUE(torch::allclose(value.grad(), reference, 1e-3, 1e-4)) << name << ' ' << per_token;
    }
    const bool learns = model.gradient_of("moe.gate.weight").abs().max().item<double>() > 1e-4;
    EXPECT_EQ(learns, per_token > 1) << "one expert has weight 1 whatever the router says";
  }
}

TEST(Mixture, AnExpertThatNobodyChoseHasAGradientOfZeros) {
  MixtureModel model(3, 1);
  const torch::Tensor x = torch::rand({8, 6}) + 0.1;
  {
    const torch::NoGradGuard no_grad;
    model.mixture.router.weight.copy_(torch::tensor({1.0F, 2.0F, 0.0F}).unsqueeze(1).expand({3, 6}));
  }
  model.mixture(x).sum().backward();
  EXPECT_GT(model.gradient_of("moe.experts.1.w1.weight").abs().max().item<double>(), 0);
  for (const char* idle : {"moe.experts.0.w1.weight", "moe.experts.2.w2.weight"}) {
    const auto gradient = model.gradient_of(idle);
    ASSERT_TRUE(gradient.defined()) << idle;
    EXPECT_EQ(gradient.abs().max().item<double>(), 0) << idle;
  }
}

TEST(Mixture, KeepsTheShapeAndTypeOfItsInput) {
  const MixtureModel model(4, 2, torch::kBFloat16);
  const auto y = model.mixture(torch::randn({2, 7, 6}).to(torch::kBFloat16));
  EXPECT_EQ(y.sizes(), (std::vector<int64_t>{2, 7, 6}));
  EXPECT_EQ(y.scalar_type(), torch::kBFloat16);
  EXPECT_EQ(model.mixture(torch::zeros({0, 6}, torch::kBFloat16)).size(0), 0);
}

TEST(Mixture, RefusesMoreExpertsPerTokenThanExperts) {
  for (const int64_t per_token : {0, 4}) {
    try {
      MixtureModel(3, per_token);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), ::testing::HasSubstr("model.experts_per_token: "));
    }
  }
}

/// Takes weights over by name: layers.0.feed_forward.w1 is that of expert 0.
void copy_weights(const Llama& from, const Llama& to) {
  const torch::NoGradGuard no_grad;
  std::map<std::string, Tensor> values;
  for (const auto& [name, value] : from.named_parameters()) values[name] = value;
  for (const auto& [name, value] : to.named_parameters()) {
    std::string dense = name;
    if (const size_t at = dense.find("experts.0."); at != std::string::npos) dense.erase(at, 10);
    if (values.count(dense) > 0) value.copy_(values.at(dense));
  }
}

TEST(Mixture, OfOneExpertIsTheDenseModel) {
  ModelShape shape = test::tiny_mixtral();
  shape.experts = shape.experts_per_token = 1;
  Llama dense(test::tiny_llama(), {{}, 11}), mixture(shape, {{}, 0});
  copy_weights(dense, mixture);
  const auto batch = test::random_tokens(2, 32, 256);
  const auto loss = mixture.loss(batch), expected = dense.loss(batch);
  EXPECT_EQ(loss.item<double>(), expected.item<double>());
  loss.backward();
  expected.backward();
  std::map<std::string, Tensor> gradients;
  for (const auto& [name, value] : dense.named_parameters()) gradients[name] = value.grad();
  size_t compared = 0;
  for (const auto& [name, value] : mixture.named_parameters()) {
    std::string in_dense = name;
    if (const size_t at = in_dense.find("experts.0."); at != std::string::npos) in_dense.erase(at, 10);
    if (gradients.count(in_dense) == 0) continue;
    ++compared;
    EXPECT_TRUE(torch::allclose(value.grad(), gradients.at(in_dense), 1e-5, 1e-8)) << name;
  }
  EXPECT_EQ(compared, gradients.size());
}

TEST(Mixture, ACheckpointedBlockRoutesTheSame) {
  const auto gradients = [](int64_t interval) {
    Llama model(test::tiny_mixtral(), {.tensor = {}, .seed = 4, .checkpoint_interval = interval});
    model.loss(test::random_tokens(2, 32, 256)).backward();
    std::vector<Tensor> all;
    for (const auto& parameter : model.parameters()) all.push_back(parameter.grad());
    return all;
  };
  const auto plain = gradients(0), checkpointed = gradients(1);
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(torch::allclose(plain[i], checkpointed[i])) << i;
}

}  // namespace
}  // namespace flopmark
