#include "models/bert.h"

#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <fmt/format.h>

#include "models/shape_checks.h"

namespace flopmark {
namespace {

constexpr double kBertNormEps = 1e-12;
constexpr int64_t kTokenTypes = 2;

}  // namespace

Bert::Bert(const ModelShape& shape, const ModelOptions& options)
    : BuiltInModel(options), heads_(checked_heads(shape)), drop_{shape.dropout} {
  const int64_t hidden = shape.hidden_size;
  const auto normal = InitialValue::normal(0.02), zero = InitialValue::constant(0);
  const auto table = [&](const char* name, int64_t rows) {
    return parameters_.create(name, {rows, hidden}, normal);
  };
  embedding_ = table("embeddings.word_embeddings.weight", shape.vocab_size);
  positions_ = table("embeddings.position_embeddings.weight", shape.max_sequence_length);
  token_types_ = table("embeddings.token_type_embeddings.weight", kTokenTypes);
  embedding_norm_ = make_layer_norm(parameters_, "embeddings.LayerNorm", hidden, kBertNormEps);
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    blocks_.push_back(make_block(layer, shape));
  }
  const std::string head = "cls.predictions";
  transform_ = make_part(head + ".transform.dense", hidden, hidden);
  transform_norm_ = make_layer_norm(parameters_, head + ".transform.LayerNorm", hidden, kBertNormEps);
  decoder_.path = head + ".decoder";
  decoder_.weight = shape.tied_embeddings
                        ? embedding_
                        : parameters_.create(head + ".decoder.weight", {shape.vocab_size, hidden}, normal);
  decoder_.bias = parameters_.create(head + ".bias", {shape.vocab_size}, zero);
  parameters_.initialise(options.seed);
}

Linear Bert::make_part(const std::string& path, int64_t in, int64_t out) {
  return make_linear(parameters_, path, {in, out, InitialValue::normal(0.02), InitialValue::constant(0)});
}

Bert::Block Bert::make_block(int64_t index, const ModelShape& shape) {
  const auto path = fmt::format("encoder.layer.{}", index);
  const int64_t hidden = shape.hidden_size, ffn = shape.ffn_size;
  Block block;
  block.attention_path = path + ".attention";
  block.query = make_part(path + ".attention.self.query", hidden, hidden);
  block.key = make_part(path + ".attention.self.key", hidden, hidden);
  block.value = make_part(path + ".attention.self.value", hidden, hidden);
  block.attention_output = make_part(path + ".attention.output.dense", hidden, hidden);
  block.attention_norm =
      make_layer_norm(parameters_, path + ".attention.output.LayerNorm", hidden, kBertNormEps);
  block.intermediate = make_part(path + ".intermediate.dense", hidden, ffn);
  block.output = make_part(path + ".output.dense", ffn, hidden);
  block.output_norm = make_layer_norm(parameters_, path + ".output.LayerNorm", hidden, kBertNormEps);
  block.place = place_block(path, index, /*random=*/shape.dropout > 0);
  return block;
}

torch::Tensor Bert::attention(const Block& block, const torch::Tensor& x) const {
  const ModuleScope scope(block.attention_path);
  const auto heads = [&](const Linear& projection) {
    return projection(x).view({x.size(0), x.size(1), heads_, -1}).transpose(1, 2);
  };
  const auto mixed = at::scaled_dot_product_attention(
      heads(block.query), heads(block.key), heads(block.value), /*attn_mask=*/{}, drop_.probability);
  return drop_(block.attention_output(mixed.transpose(1, 2).reshape(x.sizes())));
}

torch::Tensor Bert::forward(const Block& block, const torch::Tensor& x) const {
  const auto mixed = block.attention_norm(x + attention(block, x));
  return block.output_norm(mixed + drop_(block.output(at::gelu(block.intermediate(mixed)))));
}

torch::Tensor Bert::logits(const torch::Tensor& ids) {
  const int64_t length = checked_length(ids, positions_);
  const auto places = positions_.narrow(0, 0, length) + token_types_.select(0, 0);
  auto x = drop_(embedding_norm_(at::embedding(embedding_, ids) + places));
  for (const auto& block : blocks_) {
    x = run_block(block.place, x,
                  [this, &block](const torch::Tensor& input) { return forward(block, input); });
  }
  return decoder_(transform_norm_(at::gelu(transform_(x))));
}

}  // namespace flopmark
