#include "train/optimizer.h"

#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>
#include <string>

#include "flopmark/error.h"

namespace flopmark {
namespace {

/// Two parameters, one of them large enough for the vector code and its rest.
std::vector<torch::Tensor> start() {
  const torch::NoGradGuard no_grad;
  return {torch::linspace(-1, 1, 37).requires_grad_(),
          torch::linspace(2, -2, 6).view({2, 3}).requires_grad_()};
}

float gradient_of(float weight, int step) {
  return std::sin(3 * weight + static_cast<float>(step));
}

/// Five updates of every value on its own by `rule(weight, gradient, step)`, and by the optimizer: largest
/// difference.
template <class Rule>
double difference_after_five_steps(const OptimizerConfig& config, Rule make_rule) {
  const auto parameters = start();
  const auto optimizer = make_optimizer(config, parameters);
  std::vector<double> expected;
  std::vector<decltype(make_rule())> rules;
  for (const auto& parameter : parameters) {
    const auto flat = parameter.detach().flatten();
    for (int64_t i = 0; i < flat.numel(); ++i) {
      expected.push_back(flat[i].template item<double>());
      rules.push_back(make_rule());
    }
  }
  double worst = 0;
  for (int step = 1; step <= 5; ++step) {
    size_t place = 0;
    for (auto parameter : parameters) {
      auto gradient = torch::empty_like(parameter).detach();
      const auto flat = parameter.detach().flatten();
      for (int64_t i = 0; i < flat.numel(); ++i, ++place) {
        const float g = gradient_of(flat[i].template item<float>(), step);
        gradient.view(-1)[i] = g;
        expected[place] = rules[place](expected[place], g, step);
      }
      parameter.mutable_grad() = gradient;
    }
    optimizer->step(std::nullopt);
    optimizer->clear_gradients();
    place = 0;
    for (const auto& parameter : parameters) {
      const auto flat = parameter.detach().flatten();
      for (int64_t i = 0; i < flat.numel(); ++i, ++place) {
        worst = std::max(worst, std::abs(flat[i].template item<double>() - expected[place]));
      }
    }
  }
  return worst;
}

// The fused operators walk memory, not strides.
TEST(Optimizer, AParameterThatOverlapsItselfIsRefused) {
  for (const char* type : {"sgd", "adamw"}) {
    OptimizerConfig config;
    config.type = type;
    EXPECT_THROW(make_optimizer(config, {torch::zeros({1}).expand({1000})}), Error) << type;
    EXPECT_THROW(make_optimizer(config, {torch::zeros({8}).slice(0, 0, 8, 2)}), Error) << type;
    EXPECT_NO_THROW(make_optimizer(config, {torch::zeros({2, 3}).t()})) << type;
  }
}

TEST(Optimizer, AdamWFollowsItsFormula) {
  OptimizerConfig config{
      .type = "adamw", .lr = 0.05, .weight_decay = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-6};
  const auto rule = [&] {
    return [m = 0.0, v = 0.0, config](double w, double g, int step) mutable {
      w -= config.lr * config.weight_decay * w;
      m = config.beta1 * m + (1 - config.beta1) * g;
      v = config.beta2 * v + (1 - config.beta2) * g * g;
      const double m_hat = m / (1 - std::pow(config.beta1, step)),
                   v_hat = v / (1 - std::pow(config.beta2, step));
      return w - config.lr * m_hat / (std::sqrt(v_hat) + config.eps);
    };
  };
  EXPECT_LT(difference_after_five_steps(config, rule), 1e-6);
}

TEST(Optimizer, SgdFollowsItsFormula) {
  for (const double momentum : {0.0, 0.9}) {
    OptimizerConfig config{.type = "sgd", .lr = 0.1, .weight_decay = 0.05, .momentum = momentum};
    const auto rule = [&] {
      return [m = 0.0, config](double w, double g, int /*step*/) mutable {
        m = config.momentum * m + g + config.weight_decay * w;
        return w - config.lr * m;
      };
    };
    EXPECT_LT(difference_after_five_steps(config, rule), 1e-6) << momentum;
  }
}

TEST(Optimizer, LeavesParametersWithoutAGradient) {
  for (const char* type : {"sgd", "adamw"}) {
    auto parameters = start();
    const auto before = parameters[0].detach().clone(), moved = parameters[1].detach().clone();
    const auto optimizer = make_optimizer({.type = type, .lr = 0.1, .momentum = 0.9}, parameters);
    optimizer->step(1.0);  // none has one
    EXPECT_TRUE(parameters[1].equal(moved));
    parameters[1].mutable_grad() = torch::ones({2, 3});
    optimizer->step(1.0);
    EXPECT_TRUE(parameters[0].equal(before)) << type;
    EXPECT_FALSE(parameters[1].equal(moved)) << type;
  }
}

TEST(Optimizer, ClipsBeforeTheUpdate) {
  auto parameters = start();
  const auto before = parameters[1].detach().clone();
  const auto optimizer = make_optimizer({.type = "sgd", .lr = 1, .weight_decay = 0}, parameters);
  parameters[1].mutable_grad() = torch::full({2, 3}, 10.0F);  // norm 10 sqrt 6
  optimizer->step(1.0);
  EXPECT_TRUE(torch::allclose(before - parameters[1], torch::full({2, 3}, 1 / std::sqrt(6.0)), 0, 1e-6));
}

TEST(Optimizer, LetsGradientsGo) {
  auto parameters = start();
  const auto optimizer = make_optimizer({}, parameters);
  parameters[0].mutable_grad() = torch::ones({37});
  optimizer->step(std::nullopt);
  optimizer->clear_gradients();
  EXPECT_FALSE(parameters[0].grad().defined());
}

TEST(Optimizer, WorksInBfloat16) {
  for (const char* type : {"sgd", "adamw"}) {
    const auto weight = torch::ones({40}, torch::TensorOptions(torch::kBFloat16).requires_grad(true));
    const auto optimizer = make_optimizer({.type = type, .lr = 0.5, .weight_decay = 0}, {weight});
    weight.mutable_grad() = torch::ones({40}, torch::kBFloat16);
    optimizer->step(1e9);
    EXPECT_TRUE(weight.eq(0.5).all().item<bool>())
        << type;  // 1 - 0.5 x 1; AdamW's first step is lr x sign(g)
  }
}

TEST(Optimizer, AnOverflowLeavesEverythingAsItWas) {
  for (const char* type : {"sgd", "adamw"}) {
    const OptimizerConfig config{.type = type, .lr = 0.1, .momentum = 0.9};
    auto parameters = start(), undisturbed = start();
    const auto optimizer = make_optimizer(config, parameters),
               reference = make_optimizer(config, undisturbed);
    LossScaler scaler(torch::kCPU, {.initial = 1024});
    const auto give = [](std::vector<torch::Tensor>& all, double value) {
      for (auto& parameter : all) parameter.mutable_grad() = torch::full_like(parameter, value).detach();
    };
    const auto step = [&](double gradient) {  // as backward leaves it: times the scale
      give(parameters, gradient * scaler.scale());
      return optimizer->step(std::nullopt, &scaler).item<double>();
    };
    const auto reference_step = [&](double gradient) {
      give(undisturbed, gradient);
      EXPECT_FALSE(reference->step(std::nullopt).defined());
    };
    EXPECT_EQ(step(0.5), 0) << type;
    reference_step(0.5);
    const auto before = parameters[0].detach().clone();
    EXPECT_EQ(step(INFINITY), 1) << type;
    EXPECT_TRUE(parameters[0].equal(before)) << type;
    EXPECT_EQ(scaler.scale(), 512) << type;
    // Neither momentum nor the number of the step has seen it.
    EXPECT_EQ(step(-0.25), 0) << type;
    reference_step(-0.25);
    for (size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_TRUE(parameters[i].equal(undisturbed[i])) << type << ' ' << i;
    }
  }
}

TEST(Optimizer, ClipsWhatIsNoLongerScaled) {
  auto parameters = start();
  const auto before = parameters[1].detach().clone();
  const auto optimizer = make_optimizer({.type = "sgd", .lr = 1, .weight_decay = 0}, parameters);
  LossScaler scaler(torch::kCPU, {.initial = 1024});
  parameters[1].mutable_grad() = torch::full({2, 3}, 0.1F * 1024);  // norm 0.1 sqrt 6: below the limit
  optimizer->step(1.0, &scaler);
  EXPECT_TRUE(torch::allclose(before - parameters[1], torch::full({2, 3}, 0.1F), 0, 1e-6));
}

/// Number types in each call of a fused operator while one lives.
class FusedCalls {
 public:
  FusedCalls() {
    calls().clear();
    handle_ = at::addGlobalCallback(
        at::RecordFunctionCallback(&FusedCalls::note).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  }
  ~FusedCalls() { at::removeCallback(handle_); }
  FusedCalls(const FusedCalls&) = delete;
  FusedCalls& operator=(const FusedCalls&) = delete;

  static std::vector<std::set<torch::Dtype>>& calls() {
    static std::vector<std::set<torch::Dtype>> all;
    return all;
  }

 private:
  static std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& function) {
    const auto inputs = function.inputs();
    if (std::string(function.name()).rfind("aten::_fused_", 0) != 0 || !inputs[0].isTensorList())
      return nullptr;
    std::set<torch::Dtype> types;
    for (const at::Tensor& parameter : inputs[0].toTensorVector()) types.insert(parameter.scalar_type());
    calls().push_back(types);
    return nullptr;
  }
  at::CallbackHandle handle_ = 0;
};

// A model from a file may have some layers in bf16 and others in float32. On a GPU the fused operators refuse
// a call with both.
TEST(Optimizer, ParametersOfSeveralTypesAreUpdatedByType) {
  for (const char* type : {"sgd", "adamw"}) {
    std::vector<torch::Tensor> parameters;
    for (const auto dtype : {torch::kFloat, torch::kBFloat16, torch::kFloat, torch::kDouble}) {
      parameters.push_back(torch::ones({5}, dtype).set_requires_grad(true));
    }
    const auto optimizer =
        make_optimizer({.type = type, .lr = 0.5, .weight_decay = 0, .momentum = 0.9}, parameters);
    for (int step = 1; step <= 2; ++step) {
      for (auto& parameter : parameters) parameter.mutable_grad() = torch::ones_like(parameter).detach();
      LossScaler scaler(torch::kCPU, {.initial = 1});
      const FusedCalls log;
      EXPECT_EQ(optimizer->step(1e9, &scaler).item<double>(), 0) << type;
      EXPECT_EQ(FusedCalls::calls().size(), 3U) << type;
      for (const auto& types : FusedCalls::calls()) EXPECT_EQ(types.size(), 1U) << type;
    }
    // SGD: 1 - 0.5 (1 + 1.9). AdamW: sign(g) twice; a counter that went on faster would show.
    for (const auto& parameter : parameters) {
      EXPECT_NEAR(parameter[0].item<double>(), std::string(type) == "sgd" ? -0.45 : 0, 5e-3)
          << type << ' ' << parameter.scalar_type();
    }
    EXPECT_EQ(optimizer->state().size(), std::string(type) == "sgd" ? 4U : 4U + 4U + 3U);
  }
}

TEST(Optimizer, RefusesAnUnknownType) {
  try {
    make_optimizer({.type = "lion"}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_STREQ(error.what(), "train.optimizer.type: unknown \"lion\"; known are sgd, adamw");
  }
}

}  // namespace
}  // namespace flopmark
