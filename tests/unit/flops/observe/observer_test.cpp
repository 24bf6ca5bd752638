#include "flops/observe/observer.h"

#include <torch/library.h>

#include <stdexcept>
#include <thread>

#include "unit/flops/observe/counting.h"

namespace flopmark {
namespace {

using Part = FlopObserver::Part;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// x w under checkpointing: nothing kept but the inputs, forward run again in backward.
struct Checkpointed : torch::autograd::Function<Checkpointed> {
  static torch::Tensor run(const torch::Tensor& x, const torch::Tensor& w) {
    return torch::relu(x.mm(w)).mm(w);
  }
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x, const torch::Tensor& w) {
    context->save_for_backward({x, w});
    return run(x, w);
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto x = saved[0].detach().requires_grad_(), w = saved[1].detach().requires_grad_();
    torch::Tensor output;
    {
      const torch::AutoGradMode enabled(true);
      output = run(x, w);
    }
    torch::autograd::backward({output}, {gradients[0]});
    return {x.grad(), w.grad()};
  }
};

/// A product whose backward is written by hand, with one product more than needed.
struct HandWritten : torch::autograd::Function<HandWritten> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x, const torch::Tensor& w) {
    context->save_for_backward({x, w});
    return x.mm(w);
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    saved[0].mm(saved[1]);
    return {gradients[0].mm(saved[1].t()), saved[0].t().mm(gradients[0])};
  }
};

TEST(Observer, RecomputationIsHardwareOnly) {
  const auto x = leaf({4, 8}), w = leaf({8, 8});  // one product: 2 x 4 x 8 x 8 = 512
  const FlopTotals totals = count_step([&] { return Checkpointed::apply(x, w); });
  EXPECT_EQ(totals.forward_flop, 2 * 512);
  EXPECT_EQ(totals.recompute_flop, 2 * 512);
  EXPECT_EQ(totals.backward_flop, 4 * 512);
  EXPECT_EQ(totals.model_flop(), 6 * 512);
  EXPECT_EQ(totals.hardware_flop(), 8 * 512);
  EXPECT_EQ(calls_of(totals), (std::map<std::string, int64_t>{{"aten::mm", 8}}));
}

TEST(Observer, CountsWhatACustomBackwardExecutes) {
  const auto x = leaf({4, 8}), w = leaf({8, 8});
  const FlopTotals totals = count_step([&] { return HandWritten::apply(x, w); });
  EXPECT_EQ(totals.forward_flop, 512);
  EXPECT_EQ(totals.backward_flop, 3 * 512);
}

TEST(Observer, OptimizerIsInNeitherTotal) {
  FlopObserver observer;
  const auto x = torch::randn({4, 8});
  x.mm(torch::randn({8, 8}));
  observer.enter(Part::optimizer);
  x.mm(torch::randn({8, 3}));
  const FlopTotals totals = checked_totals(observer);
  EXPECT_EQ(totals.optimizer_flop, 2 * 4 * 8 * 3);
  EXPECT_EQ(totals.model_flop(), 512);
  EXPECT_EQ(totals.hardware_flop(), 512);
}

TEST(Observer, TwoCountsInARowAreEqual) {
  torch::nn::Linear layer(8, 8);
  const auto step = [&] { return layer->forward(torch::randn({4, 8})); };
  const FlopTotals first = count_step(step), second = count_step(step);
  EXPECT_EQ(first.forward_flop, 512);
  EXPECT_EQ(second.forward_flop, first.forward_flop);
  EXPECT_EQ(second.backward_flop, first.backward_flop);
  EXPECT_EQ(calls_of(second), calls_of(first));
}

TEST(Observer, LeavesTheLossAsItIs) {
  torch::nn::Sequential model(torch::nn::Linear(16, 16), torch::nn::Tanh(), torch::nn::Linear(16, 1));
  const auto x = torch::randn({32, 16});
  const auto loss = [&] {
    const auto value = model->forward(x).pow(2).mean();
    model->zero_grad();
    value.backward();
    return std::pair{value.item<float>(), model->parameters()[0].grad().clone()};
  };
  const auto [plain, plain_gradient] = loss();
  FlopObserver observer;
  const auto [observed, observed_gradient] = loss();
  EXPECT_EQ(observed, plain);
  EXPECT_TRUE(torch::equal(observed_gradient, plain_gradient));
  EXPECT_GT(observer.totals().forward_flop, 0);
}

TEST(Observer, OneAtATimeAndNothingAfterItsEnd) {
  const auto x = torch::randn({4, 8});
  {
    FlopObserver observer;
    EXPECT_THROW(FlopObserver{}, std::logic_error);
    x.mm(x.t());
    EXPECT_EQ(observer.totals().forward_flop, 2 * 4 * 8 * 4);  // the refused one changed nothing
  }
  EXPECT_FALSE(at::hasGlobalCallbacks());
  x.mm(x.t());
  FlopObserver observer;
  EXPECT_EQ(observer.totals().forward_flop, 0);
}

TEST(Observer, SeesOtherThreads) {
  FlopObserver observer;
  std::thread worker([] { torch::randn({4, 8}).mm(torch::randn({8, 8})); });
  worker.join();
  EXPECT_EQ(observer.totals().forward_flop, 512);
}

TEST(Observer, KeepsTheFirstErrorUntilTotals) {
  FlopObserver observer;
  const auto huge = torch::empty({int64_t{1} << 30, int64_t{1} << 30}, torch::kMeta);
  EXPECT_NO_THROW(huge.mm(huge));  // 2^91 FLOPs
  torch::randn({4, 8}).mm(torch::randn({8, 8}));
  EXPECT_THROW(observer.totals(), std::overflow_error);
}

TEST(Observer, AnOperatorThatFailsDoesNotSwallowTheNext) {
  FlopObserver observer;
  EXPECT_THROW(torch::randn({4, 8}).mm(torch::randn({7, 8})), c10::Error);
  torch::randn({4, 8}).mm(torch::randn({8, 8}));
  EXPECT_EQ(observer.totals().forward_flop, 512);
}

TEST(Observer, CountsOnTheMetaDevice) {
  const auto options = torch::dtype(torch::kBFloat16).device(torch::kMeta).requires_grad(true);
  const auto weight = torch::empty({8192, 8192}, options);
  const FlopTotals totals = count_step([&] {
    return torch::linear(torch::empty({65536, 8192}, options), weight);
  });
  EXPECT_EQ(totals.forward_flop, 8'796'093'022'208);  // 2 x 65536 x 8192 x 8192
  EXPECT_EQ(totals.backward_flop, 2 * totals.forward_flop);
}

TEST(Observer, ListsOperatorsWithoutARule) {
  const FlopTotals totals = count_forward([] {
    torch::fft_rfft(torch::randn({8}));
    torch::linalg_inv(torch::randn({3, 3}));
    torch::linalg_inv(torch::randn({3, 3}));
    torch::layer_norm(torch::randn({3, 3}), {3});
  });
  EXPECT_TRUE(totals.lower_bound);
  EXPECT_EQ(uncounted_of(totals),
            (std::map<std::string, int64_t>{{"aten::_fft_r2c", 1}, {"aten::linalg_inv_ex", 2}}));
}

TEST(Observer, ListsCustomOperatorsAndCountsWhatTheyCall) {
  torch::Library library(torch::Library::DEF, "flopmark_test", std::nullopt, __FILE__, __LINE__);
  library.def("twice(Tensor x) -> Tensor", [](const torch::Tensor& x) { return x.mm(x) + x.mm(x); });
  const auto twice = c10::Dispatcher::singleton()
                         .findSchemaOrThrow("flopmark_test::twice", "")
                         .typed<torch::Tensor(const torch::Tensor&)>();
  const FlopTotals totals = count_forward([&] { twice.call(torch::randn({8, 8})); });
  EXPECT_TRUE(totals.lower_bound);
  EXPECT_EQ(uncounted_of(totals), (std::map<std::string, int64_t>{{"flopmark_test::twice", 1}}));
  EXPECT_EQ(totals.forward_flop, 2 * 1'024);
}

torch::Tensor linear_without_products(const torch::Tensor& input, const torch::Tensor& weight,
                                      const std::optional<torch::Tensor>& /*bias*/) {
  return (input.unsqueeze(-2) * weight).sum(-1);
}

TEST(Observer, CountsALinearThatADeviceDoesInOnePiece) {
  torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__, __LINE__);
  library.impl("linear", linear_without_products);
  const torch::NoGradGuard no_grad;
  const FlopTotals totals = count_forward([] {
    torch::linear(torch::randn({2, 3, 5}), torch::randn({7, 5}));
  });
  EXPECT_EQ(totals.forward_flop, 420);
  EXPECT_EQ(calls_of(totals), (std::map<std::string, int64_t>{{"aten::linear", 1}}));
  EXPECT_FALSE(totals.lower_bound);
}

}  // namespace
}  // namespace flopmark
