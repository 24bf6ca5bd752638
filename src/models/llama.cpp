#include "models/llama.h"

#include <ATen/ops/embedding.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <fmt/format.h>

#include <cmath>

#include "flopmark/error.h"

namespace flopmark {
namespace {

/// Values per head. @throws Error 200 where heads do not divide what they must.
int64_t checked_head_size(const ModelShape& shape) {
  if (shape.heads < 1 || shape.kv_heads < 1 || shape.heads % shape.kv_heads != 0) {
    throw usage_error(fmt::format("model.kv_heads: {} does not divide model.heads = {}; use a divisor of it",
                                  shape.kv_heads, shape.heads));
  }
  if (shape.hidden_size % (2 * shape.heads) != 0) {
    throw usage_error(
        fmt::format("model.hidden_size: {} is not a multiple of 2 x model.heads = {}; rotary "
                    "positions need an even, whole number of values per head",
                    shape.hidden_size, 2 * shape.heads));
  }
  return shape.hidden_size / shape.heads;
}

}  // namespace

Llama::Llama(const ModelShape& shape, const ModelOptions& options)
    : BuiltInModel(options),
      head_size_(checked_head_size(shape)),
      grouped_(shape.kv_heads < shape.heads),
      rotary_(head_size_) {
  embedding_ = parameters_.create("tok_embeddings.weight", {shape.vocab_size, shape.hidden_size},
                                  InitialValue::normal(0.02));
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    blocks_.push_back(make_block(layer, shape));
  }
  norm_ = make_rms_norm(parameters_, "norm", shape.hidden_size);
  if (shape.tied_embeddings) {
    head_ = {.weight = embedding_, .bias = {}, .path = "output"};
  } else {
    head_ = make_linear(parameters_, "output", {.in = shape.hidden_size, .out = shape.vocab_size});
  }
  parameters_.initialise(options.seed);
}

Llama::Block Llama::make_block(int64_t index, const ModelShape& shape) {
  const auto path = fmt::format("layers.{}", index);
  // Residual projections are scaled down with depth (Radford et al. 2019, section 2.3).
  const auto residual = InitialValue::normal(0.02 / std::sqrt(2.0 * static_cast<double>(shape.layers)));
  const int64_t hidden = shape.hidden_size, kv = shape.kv_heads * head_size_;
  Block block;
  block.attention_path = path + ".attention";
  block.attention_norm = make_rms_norm(parameters_, path + ".attention_norm", hidden);
  block.wq = make_linear(parameters_, path + ".attention.wq", {.in = hidden, .out = hidden});
  block.wk = make_linear(parameters_, path + ".attention.wk", {.in = hidden, .out = kv});
  block.wv = make_linear(parameters_, path + ".attention.wv", {.in = hidden, .out = kv});
  block.wo =
      make_linear(parameters_, path + ".attention.wo", {.in = hidden, .out = hidden, .weight = residual});
  block.ffn_norm = make_rms_norm(parameters_, path + ".ffn_norm", hidden);
  const FeedForwardOptions one{.hidden = hidden, .inner = shape.ffn_size, .residual = residual};
  if (shape.experts > 0) {
    block.mixture =
        make_mixture(parameters_, path + ".feed_forward",
                     {.experts = shape.experts, .per_token = shape.experts_per_token, .expert = one});
  } else {
    block.feed_forward = make_feed_forward(parameters_, path + ".feed_forward", one);
  }
  block.place = place_block(path, index);
  return block;
}

torch::Tensor Llama::attention(const Block& block, const torch::Tensor& x,
                               const torch::Tensor& rotations) const {
  const ModuleScope scope(block.attention_path);
  const int64_t batch = x.size(0), length = x.size(1);
  const auto heads = [&](const torch::Tensor& y) { return y.view({batch, length, -1, head_size_}); };
  const auto q = Rotary::apply(heads(block.wq(x)), rotations).transpose(1, 2);
  const auto k = Rotary::apply(heads(block.wk(x)), rotations).transpose(1, 2);
  const auto v = heads(block.wv(x)).transpose(1, 2);
  const auto mixed = at::scaled_dot_product_attention(q, k, v, /*attn_mask=*/{}, /*dropout_p=*/0.0,
                                                      /*is_causal=*/true, /*scale=*/{}, grouped_);
  return block.wo(mixed.transpose(1, 2).reshape(x.sizes()));
}

torch::Tensor Llama::forward(const Block& block, const torch::Tensor& x,
                             const torch::Tensor& rotations) const {
  const auto mixed = x + attention(block, block.attention_norm(x), rotations);
  const auto y = block.ffn_norm(mixed);
  return mixed + (block.mixture ? (*block.mixture)(y) : block.feed_forward(y));
}

torch::Tensor Llama::logits(const torch::Tensor& ids) {
  const auto rotations = rotary_.rotations(ids.size(1), ids.device());
  auto x = at::embedding(embedding_, ids);
  for (const auto& block : blocks_) {
    x = run_block(block.place, x, [this, &block, rotations](const torch::Tensor& input) {
      return forward(block, input, rotations);
    });
  }
  return head_(norm_(x));
}

}  // namespace flopmark
