#include "models/gpt2.h"

#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <fmt/format.h>

#include <cmath>

#include "models/shape_checks.h"

namespace flopmark {

Gpt2::Gpt2(const ModelShape& shape, const ModelOptions& options)
    : BuiltInModel(options), heads_(checked_heads(shape)), drop_{shape.dropout} {
  embedding_ =
      parameters_.create("wte.weight", {shape.vocab_size, shape.hidden_size}, InitialValue::normal(0.02));
  positions_ = parameters_.create("wpe.weight", {shape.max_sequence_length, shape.hidden_size},
                                  InitialValue::normal(0.02));
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    blocks_.push_back(make_block(layer, shape));
  }
  ln_f_ = make_layer_norm(parameters_, "ln_f", shape.hidden_size);
  if (shape.tied_embeddings) {
    head_ = {.weight = embedding_, .bias = {}, .path = "lm_head"};
  } else {
    head_ = make_linear(parameters_, "lm_head", {.in = shape.hidden_size, .out = shape.vocab_size});
  }
  parameters_.initialise(options.seed);
}

Gpt2::Block Gpt2::make_block(int64_t index, const ModelShape& shape) {
  const auto path = fmt::format("h.{}", index);
  // Residual projections are scaled down with depth (Radford et al. 2019, section 2.3).
  const auto residual = InitialValue::normal(0.02 / std::sqrt(2.0 * static_cast<double>(shape.layers)));
  const auto normal = InitialValue::normal(0.02), zero = InitialValue::constant(0);
  const int64_t hidden = shape.hidden_size, ffn = shape.ffn_size;
  Block block;
  block.attention_path = path + ".attn";
  block.ln_1 = make_layer_norm(parameters_, path + ".ln_1", hidden);
  block.attention = make_linear(parameters_, path + ".attn.c_attn", {hidden, 3 * hidden, normal, zero});
  block.attention_projection =
      make_linear(parameters_, path + ".attn.c_proj", {hidden, hidden, residual, zero});
  block.ln_2 = make_layer_norm(parameters_, path + ".ln_2", hidden);
  block.mlp = make_linear(parameters_, path + ".mlp.c_fc", {hidden, ffn, normal, zero});
  block.mlp_projection = make_linear(parameters_, path + ".mlp.c_proj", {ffn, hidden, residual, zero});
  block.place = place_block(path, index, /*random=*/shape.dropout > 0);
  return block;
}

torch::Tensor Gpt2::attention(const Block& block, const torch::Tensor& x) const {
  const ModuleScope scope(block.attention_path);
  // Each of the three is [B, T, heads, head size].
  const auto qkv = block.attention(x).view({x.size(0), x.size(1), 3, heads_, -1}).unbind(2);
  const auto mixed =
      at::scaled_dot_product_attention(qkv[0].transpose(1, 2), qkv[1].transpose(1, 2), qkv[2].transpose(1, 2),
                                       /*attn_mask=*/{}, drop_.probability,
                                       /*is_causal=*/true);
  return drop_(block.attention_projection(mixed.transpose(1, 2).reshape(x.sizes())));
}

torch::Tensor Gpt2::forward(const Block& block, const torch::Tensor& x) const {
  const auto mixed = x + attention(block, block.ln_1(x));
  return mixed + drop_(block.mlp_projection(at::gelu(block.mlp(block.ln_2(mixed)), "tanh")));
}

torch::Tensor Gpt2::logits(const torch::Tensor& ids) {
  const int64_t length = checked_length(ids, positions_);
  auto x = drop_(at::embedding(embedding_, ids) + positions_.narrow(0, 0, length));
  for (const auto& block : blocks_) {
    x = run_block(block.place, x,
                  [this, &block](const torch::Tensor& input) { return forward(block, input); });
  }
  return head_(ln_f_(x));
}

}  // namespace flopmark
