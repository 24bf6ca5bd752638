#include "models/feed_forward.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include "flopmark/error.h"

namespace flopmark {
namespace {

/// As even as whole rows allow.
std::vector<int64_t> even_rows(int64_t rows, int64_t experts) {
  std::vector<int64_t> counts(static_cast<size_t>(experts), rows / experts);
  for (int64_t i = 0; i < rows % experts; ++i) ++counts[static_cast<size_t>(i)];
  return counts;
}

/// How often each expert stands in `chosen`, [rows].
std::vector<int64_t> rows_per_expert(const torch::Tensor& chosen, int64_t experts) {
  if (chosen.is_meta()) return even_rows(chosen.numel(), experts);
  const auto numbers = at::arange(experts, chosen.options()).unsqueeze(1);
  const auto counts = (chosen.unsqueeze(0) == numbers).sum(1).to(torch::kCPU);
  return {counts.const_data_ptr<int64_t>(), counts.const_data_ptr<int64_t>() + experts};
}

}  // namespace

torch::Tensor FeedForward::operator()(const torch::Tensor& x) const {
  return w2(at::silu(w1(x)) * w3(x));
}

FeedForward make_feed_forward(ParameterSet& parameters, const std::string& path,
                              const FeedForwardOptions& options) {
  const int64_t hidden = options.hidden, inner = options.inner;
  FeedForward part;
  part.w1 = make_linear(parameters, path + ".w1", {.in = hidden, .out = inner});
  part.w2 = make_linear(parameters, path + ".w2", {.in = inner, .out = hidden, .weight = options.residual});
  part.w3 = make_linear(parameters, path + ".w3", {.in = hidden, .out = inner});
  return part;
}

torch::Tensor Mixture::operator()(const torch::Tensor& x) const {
  const auto tokens = x.reshape({-1, x.size(-1)});
  const auto probabilities = at::softmax(router(tokens), -1, torch::kFloat);
  const auto [best, chosen] = at::topk(probabilities, per_token);
  const auto weights = best / best.sum(-1, /*keepdim=*/true);

  // One row per token and choice, sorted by expert.
  const auto experts_of_rows = chosen.flatten();
  const auto order = experts_of_rows.argsort(/*stable=*/true);
  const auto token_of_row = order.div(per_token, "floor");
  const auto rows = tokens.index_select(0, token_of_row)
                        .split_with_sizes(rows_per_expert(experts_of_rows, std::ssize(experts)));
  std::vector<torch::Tensor> outputs;
  outputs.reserve(experts.size());
  for (size_t i = 0; i < experts.size(); ++i) {
    outputs.push_back(experts[i](rows[i]));
  }
  const auto weighted = at::cat(outputs) * weights.flatten().index_select(0, order).unsqueeze(1);
  return at::zeros_like(tokens).index_add(0, token_of_row, weighted.to(tokens.scalar_type())).view(x.sizes());
}

Mixture make_mixture(ParameterSet& parameters, const std::string& path, const MixtureOptions& options) {
  if (options.per_token < 1 || options.per_token > options.experts) {
    throw usage_error(
        fmt::format("model.experts_per_token: {} of model.experts = {}; use a number from 1 to those",
                    options.per_token, options.experts));
  }
  Mixture part;
  part.per_token = options.per_token;
  part.router =
      make_linear(parameters, path + ".gate", {.in = options.expert.hidden, .out = options.experts});
  for (int64_t i = 0; i < options.experts; ++i) {
    part.experts.push_back(
        make_feed_forward(parameters, fmt::format("{}.experts.{}", path, i), options.expert));
  }
  return part;
}

}  // namespace flopmark
