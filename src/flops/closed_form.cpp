#include "flops/closed_form.h"

#include <fmt/format.h>

#include <vector>

#include "flopmark/error.h"
#include "flops/checked_math.h"

// Parameters and FLOPs of the built-in models from their shape: 2 FLOPs per multiply-add, matmuls and
// attention only; the embedding lookup, norms, activations, rotary positions, biases, softmax and loss are
// left out. A dense transformer then takes tokens x (6 N_mm + 12 L H Q T) per step (PaLM, arXiv:2204.02311,
// appendix B), N_mm the parameters used in matmuls, head included.

namespace flopmark {
namespace {

/// FLOPs of one micro-batch.
struct StepFlop {
  int64_t forward = 0;
  int64_t backward = 0;
  int64_t attention_recompute = 0;  ///< Q K^T once more, where a fused kernel's backward computes it
};

void check(const ModelShape& shape) {
  const bool transformer = shape.type == "llama" || shape.type == "gpt2";
  if (!transformer && shape.type != "mlp") {
    throw usage_error(
        fmt::format("model.type: no built-in model '{}'; there are llama, gpt2 and mlp", shape.type));
  }
  if (shape.layers < 0 || (transformer && shape.heads <= 0)) {
    throw usage_error(
        fmt::format("model: {} layers and {} heads; give positive numbers", shape.layers, shape.heads));
  }
}

void check_transformer(const ModelShape& shape) {
  check(shape);
  if (shape.type == "mlp") throw usage_error("model.type mlp: has no attention; give a llama or gpt2");
}

int64_t sum(std::initializer_list<int64_t> terms) {
  int64_t total = 0;
  for (const int64_t term : terms) {
    total = checked_add(total, term);
  }
  return total;
}

/// Width of keys and values: a share of the hidden size where query heads share them (llama).
int64_t key_width(const ModelShape& shape) {
  return shape.type == "llama" ? checked_multiply(shape.hidden_size / shape.heads, shape.kv_heads)
                               : shape.hidden_size;
}

/// Query and output, key and value of one block.
int64_t attention_matrices(const ModelShape& shape) {
  const int64_t d = shape.hidden_size;
  return checked_add(checked_product({2, d, d}), checked_product({2, d, key_width(shape)}));
}

/// Matmul parameters of one block: attention and feed-forward (gated with three matrices in llama).
int64_t block_matrices(const ModelShape& shape) {
  const int64_t ffn_matrices = shape.type == "llama" ? 3 : 2;
  return checked_add(attention_matrices(shape),
                     checked_product({ffn_matrices, shape.hidden_size, shape.ffn_size}));
}

/// Matrices of every block and the head.
int64_t transformer_matrices(const ModelShape& shape) {
  return checked_add(checked_multiply(shape.layers, block_matrices(shape)),
                     checked_multiply(shape.vocab_size, shape.hidden_size));
}

/// RMSNorm weights only: two per block and a final one.
int64_t llama_parameters(const ModelShape& shape) {
  const int64_t embedding = shape.tied_embeddings ? 0 : checked_multiply(shape.vocab_size, shape.hidden_size);
  const int64_t norms = checked_multiply(sum({shape.layers, shape.layers, 1}), shape.hidden_size);
  return sum({embedding, transformer_matrices(shape), norms});
}

/// LayerNorms with bias, a bias for each linear of a block (none in the head), learned positions.
int64_t gpt2_parameters(const ModelShape& shape) {
  const int64_t d = shape.hidden_size;
  const int64_t embedding = shape.tied_embeddings ? 0 : checked_multiply(shape.vocab_size, d);
  const int64_t norms = checked_product({2, sum({shape.layers, shape.layers, 1}), d});
  const int64_t biases = checked_multiply(shape.layers, sum({checked_multiply(5, d), shape.ffn_size}));
  return sum({embedding, transformer_matrices(shape), norms, biases,
              checked_multiply(shape.max_sequence_length, d)});
}

/// Features from input to classes: input, each hidden layer, classes.
std::vector<int64_t> mlp_widths(const ModelShape& shape) {
  std::vector<int64_t> widths(static_cast<size_t>(shape.layers) + 2, shape.hidden_size);
  widths.front() = shape.input_size;
  widths.back() = shape.classes;
  return widths;
}

int64_t mlp_parameters(const ModelShape& shape) {
  const auto widths = mlp_widths(shape);
  int64_t parameters = 0;
  for (size_t i = 1; i < widths.size(); ++i) {
    parameters = sum({parameters, checked_multiply(widths[i - 1], widths[i]), widths[i]});
  }
  return parameters;
}

/// Backward is twice the forward: every matmul's input comes from an embedding that learns.
StepFlop transformer_flop(const ModelShape& shape, const BatchShape& batch) {
  const int64_t tokens = checked_multiply(batch.batch_size, batch.sequence_length);
  const int64_t matrices = checked_product({2, tokens, transformer_matrices(shape)});
  // Q K^T of all layers: 2 x B x T x T x (heads x head size); P V costs the same.
  const int64_t scores = checked_product({2, shape.layers, tokens, batch.sequence_length, shape.hidden_size});
  const int64_t forward = sum({matrices, scores, scores});
  return {forward, checked_multiply(2, forward), scores};
}

/// The first layer reads data, which needs no gradient.
StepFlop mlp_flop(const ModelShape& shape, const BatchShape& batch) {
  const auto widths = mlp_widths(shape);
  int64_t forward = 0;
  for (size_t i = 1; i < widths.size(); ++i) {
    forward = checked_add(forward, checked_product({2, batch.batch_size, widths[i - 1], widths[i]}));
  }
  const int64_t input_gradient = checked_product({2, batch.batch_size, widths[0], widths[1]});
  return {forward, checked_multiply(2, forward) - input_gradient, 0};
}

}  // namespace

int64_t count_parameters(const ModelShape& shape) {
  check(shape);
  if (shape.type == "llama") {
    return llama_parameters(shape);
  }
  return shape.type == "gpt2" ? gpt2_parameters(shape) : mlp_parameters(shape);
}

int64_t count_matmul_parameters(const ModelShape& shape) {
  check_transformer(shape);
  return transformer_matrices(shape);
}

int64_t count_attention_parameters(const ModelShape& shape) {
  check_transformer(shape);
  return attention_matrices(shape);
}

FlopTotals closed_form_flops(const ModelShape& shape, const BatchShape& batch, int64_t micro_batches,
                             bool fused_attention) {
  check(shape);
  const StepFlop one = shape.type == "mlp" ? mlp_flop(shape, batch) : transformer_flop(shape, batch);
  FlopTotals totals;
  totals.forward_flop = checked_multiply(micro_batches, one.forward);
  totals.backward_flop = checked_multiply(micro_batches, one.backward);
  totals.backward_hardware_flop = checked_add(
      totals.backward_flop, fused_attention ? checked_multiply(micro_batches, one.attention_recompute) : 0);
  return totals;
}

}  // namespace flopmark
