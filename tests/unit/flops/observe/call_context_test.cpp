#include "flops/observe/call_context.h"

#include <torch/csrc/jit/api/module.h>

#include "flops/observe/module_scope.h"
#include "unit/flops/observe/counting.h"

namespace flopmark {
namespace {

std::map<std::string, ModuleFlops> modules_of(const FlopTotals& totals) {
  std::map<std::string, ModuleFlops> rows;
  for (const ModuleFlops& row : totals.by_module) rows[row.path] = row;
  return rows;
}

TEST(CallContext, BackwardBelongsToTheModuleOfItsForward) {
  const std::string outer = "outer", inner = "outer.inner";
  const auto x = leaf({4, 8}), w = leaf({8, 8}), v = leaf({8, 3});
  const auto rows = modules_of(count_step([&] {
    const ModuleScope scope(outer);
    torch::Tensor y;
    {
      const ModuleScope deeper(inner);
      y = torch::relu(x.mm(w));
    }
    return y.mm(v);
  }));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.at(inner).forward_flop, 512);
  EXPECT_EQ(rows.at(inner).backward_flop, 1'024);
  EXPECT_EQ(rows.at(outer).forward_flop, 2 * 4 * 8 * 3);
  EXPECT_EQ(rows.at(outer).backward_flop, 2 * 2 * 4 * 8 * 3);
}

TEST(CallContext, OutsideAnyModuleThePathIsEmpty) {
  const auto rows = modules_of(count_step([] { return leaf({4, 8}).mm(leaf({8, 8})); }));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.at("").model_flop(), 3 * 512);
}

TEST(CallContext, TorchScriptModulesHavePaths) {
  torch::jit::Module inner("Inner"), outer("Outer");
  inner.register_parameter("w", leaf({8, 8}), false);
  inner.define("def forward(self, x):\n  return torch.relu(torch.mm(x, self.w))\n");
  outer.register_module("first", inner.clone());
  outer.register_module("second", inner.clone());
  outer.define("def forward(self, x):\n  return self.second.forward(self.first.forward(x))\n");
  const auto x = leaf({4, 8});
  const auto rows = modules_of(count_step([&] { return outer.forward({x}).toTensor(); }));
  ASSERT_TRUE(rows.count("first") == 1 && rows.count("second") == 1) << rows.begin()->first;
  EXPECT_EQ(rows.at("first").forward_flop, 512);
  EXPECT_EQ(rows.at("first").backward_flop, 1'024);
  EXPECT_EQ(rows.at("second").forward_flop, 512);
}

/// Attention of 2 sequences, 4 heads, 8 positions, 16 values per head: 2 x 2 x 4 x 8 x 8 x 32 forward.
FlopTotals count_attention(bool fused, bool causal, int64_t keys, AttentionConvention convention) {
  at::globalContext().setSDPUseFlash(fused);
  const auto q = leaf({2, 4, 8, 16}), k = leaf({2, 4, keys, 16}), v = leaf({2, 4, keys, 16});
  FlopObserver observer({.convention = convention});
  const auto y = torch::scaled_dot_product_attention(q, k, v, {}, 0.0, causal).sum();
  observer.enter(FlopObserver::Part::backward);
  y.backward();
  at::globalContext().setSDPUseFlash(true);
  return checked_totals(observer);
}

TEST(CallContext, CausalHalvesFusedAndUnfusedAlike) {
  constexpr int64_t kForward = 2 * 2 * 4 * 8 * 8 * 32;
  for (const bool fused : {true, false}) {
    const auto full = count_attention(fused, true, 8, AttentionConvention::full);
    EXPECT_EQ(full.forward_flop, kForward) << fused;
    EXPECT_EQ(full.backward_flop, 2 * kForward);
    const auto half = count_attention(fused, true, 8, AttentionConvention::causal);
    EXPECT_EQ(half.forward_flop, kForward / 2) << fused;
    EXPECT_EQ(half.backward_flop, kForward);
    EXPECT_EQ(half.hardware_flop() - half.model_flop(), fused ? kForward / 4 : 0);
    const auto open = count_attention(fused, false, 8, AttentionConvention::causal);
    EXPECT_EQ(open.forward_flop, kForward) << fused;
    const auto wide = count_attention(fused, true, 12, AttentionConvention::causal);
    EXPECT_EQ(wide.model_flop(), 3 * kForward / 8 * 12) << fused;
  }
}

TEST(CallContext, ProductsOutsideAttentionAreNeverHalved) {
  FlopObserver observer({.convention = AttentionConvention::causal});
  const auto q = torch::randn({1, 1, 8, 16});
  torch::scaled_dot_product_attention(q, q, q, {}, 0.0, true);
  const int64_t attention = observer.totals().forward_flop;
  torch::randn({4, 8}).mm(torch::randn({8, 8}));
  EXPECT_EQ(observer.totals().forward_flop, attention + 512);
}

TEST(CallContext, NumberTypesAreKeptApart) {
  FlopObserver observer({.tf32 = true});
  torch::randn({4, 8}).mm(torch::randn({8, 8}));
  torch::randn({4, 8}, torch::kDouble).mm(torch::randn({8, 8}, torch::kDouble));
  torch::randn({4, 8}, torch::kBFloat16).mm(torch::randn({8, 3}, torch::kBFloat16));
  torch::_int_mm(torch::ones({32, 16}, torch::kChar), torch::ones({16, 8}, torch::kChar));
  std::map<std::string, int64_t> flop;
  for (const auto& row : observer.totals().by_precision) flop[row.precision] = row.model_flop;
  EXPECT_EQ(flop, (std::map<std::string, int64_t>{
                      {"bf16", 192}, {"fp64", 512}, {"int8", 2 * 32 * 16 * 8}, {"tf32", 512}}));
}

// Documented limits, so that a change of today's answer is seen.

TEST(CallContext, LimitACreateGraphBackwardIsTakenForRecomputation) {
  const auto x = leaf({4, 8}), w = leaf({8, 8});
  FlopObserver observer;
  const auto y = x.mm(w).sum();
  observer.enter(FlopObserver::Part::backward);
  torch::autograd::grad({y}, {w}, {}, /*retain_graph=*/true, /*create_graph=*/true);
  const FlopTotals totals = observer.totals();
  EXPECT_EQ(totals.forward_flop, 512);
  EXPECT_EQ(totals.backward_flop, 0);
  EXPECT_EQ(totals.recompute_flop, 512);
}

/// A reversible network runs its forward again under disabled gradients, to get its input back.
struct Reversible : torch::autograd::Function<Reversible> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& w) {
    context->save_for_backward({x, w});
    return x + x.mm(w);
  }
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               const torch::autograd::tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    saved[0].mm(saved[1]);  // the inverse, without gradients
    return {gradients[0] + gradients[0].mm(saved[1].t()), saved[0].t().mm(gradients[0])};
  }
};

TEST(CallContext, LimitAReversibleReRunIsTakenForBackward) {
  const auto x = leaf({4, 8}), w = leaf({8, 8});
  const FlopTotals totals = count_step([&] { return Reversible::apply(x, w); });
  EXPECT_EQ(totals.forward_flop, 512);
  EXPECT_EQ(totals.backward_flop, 3 * 512);  // 2 x 512 is the mathematics
  EXPECT_EQ(totals.recompute_flop, 0);
}

}  // namespace
}  // namespace flopmark
