#include "flops/closed_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "flopmark/error.h"
#include "flops/checked_math.h"
#include "flops/flop_tally.h"
#include "flops/image_forms.h"
#include "flops/language_forms.h"

// Parameters and FLOPs of the built-in models from their shape: 2 FLOPs per multiply-add; matmuls,
// convolutions and attention only; the embedding lookup, norms, activations, rotary positions, biases,
// softmax and loss are left out. A dense transformer then takes tokens x (6 N_mm + 12 L H Q T) per step
// (PaLM, arXiv:2204.02311, appendix B), N_mm the parameters used in matmuls, head included.

namespace flopmark {
namespace {

bool is_llama(const ModelShape& shape) {
  return shape.type == "llama" || shape.type == "mixtral";
}

/// Width of keys and values: a share of the hidden size where query heads share them (llama).
int64_t key_width(const ModelShape& shape) {
  return is_llama(shape) ? checked_multiply(shape.hidden_size / shape.heads, shape.kv_heads)
                         : shape.hidden_size;
}

/// Query and output, key and value of one block.
int64_t attention_matrices(const ModelShape& shape) {
  const int64_t d = shape.hidden_size;
  return checked_add(checked_product({2, d, d}), checked_product({2, d, key_width(shape)}));
}

/// Gated with three matrices in llama.
int64_t feed_forward_matrices(const ModelShape& shape) {
  return checked_product({is_llama(shape) ? 3 : 2, shape.hidden_size, shape.ffn_size});
}

/// Matmul parameters of one block that a token meets: attention and feed-forward, or the router and as many
/// experts as work on it.
int64_t block_matrices(const ModelShape& shape) {
  const int64_t one = feed_forward_matrices(shape);
  if (shape.experts == 0) return checked_add(attention_matrices(shape), one);
  return checked_sum({attention_matrices(shape), checked_multiply(shape.experts, shape.hidden_size),
                      checked_multiply(shape.experts_per_token, one)});
}

/// Matrices of every block and the head.
int64_t transformer_matrices(const ModelShape& shape) {
  return checked_add(checked_multiply(shape.layers, block_matrices(shape)),
                     checked_multiply(shape.vocab_size, shape.hidden_size));
}

/// RMSNorm weights only: two per block and a final one. Of a mixture those that a token meets.
int64_t llama_parameters(const ModelShape& shape) {
  const int64_t embedding = shape.tied_embeddings ? 0 : checked_multiply(shape.vocab_size, shape.hidden_size);
  const int64_t norms = checked_multiply(checked_sum({shape.layers, shape.layers, 1}), shape.hidden_size);
  return checked_sum({embedding, transformer_matrices(shape), norms});
}

/// With the experts that do not work on a token.
int64_t mixtral_parameters(const ModelShape& shape) {
  const int64_t idle =
      checked_product({shape.layers, shape.experts - shape.experts_per_token, feed_forward_matrices(shape)});
  return checked_add(llama_parameters(shape), idle);
}

/// LayerNorms with bias, a bias for each linear of a block (none in the head), learned positions.
int64_t gpt2_parameters(const ModelShape& shape) {
  const int64_t d = shape.hidden_size;
  const int64_t embedding = shape.tied_embeddings ? 0 : checked_multiply(shape.vocab_size, d);
  const int64_t norms = checked_product({2, checked_sum({shape.layers, shape.layers, 1}), d});
  const int64_t biases =
      checked_multiply(shape.layers, checked_sum({checked_multiply(5, d), shape.ffn_size}));
  return checked_sum({embedding, transformer_matrices(shape), norms, biases,
                      checked_multiply(shape.max_sequence_length, d)});
}

/// Backward is twice the forward: every matmul's input comes from an embedding that learns.
StepFlop transformer_flop(const ModelShape& shape, const BatchShape& batch) {
  const int64_t tokens = checked_multiply(batch.batch_size, batch.sequence_length);
  // Q K^T of a layer: 2 x B x T x T x (heads x head size); P V costs the same.
  const int64_t scores = checked_product({2, tokens, batch.sequence_length, shape.hidden_size});
  const int64_t block = checked_sum({checked_product({2, tokens, block_matrices(shape)}), scores, scores});
  const int64_t head = checked_product({2, tokens, shape.vocab_size, shape.hidden_size});
  const int64_t forward = checked_add(checked_multiply(shape.layers, block), head);
  return {forward, checked_multiply(2, forward), checked_multiply(shape.layers, scores),
          std::vector<int64_t>(static_cast<size_t>(shape.layers), block)};
}

StepFlop mlp_step(const ModelShape& shape, const BatchShape& batch) {
  return mlp_flop(shape, batch.batch_size);
}
StepFlop resnet_step(const ModelShape& shape, const BatchShape& batch) {
  return resnet_flop(shape, batch.batch_size);
}
StepFlop vit_step(const ModelShape& shape, const BatchShape& batch) {
  return vit_flop(shape, batch.batch_size);
}

StepFlop convnet_step(const ModelShape& shape, const BatchShape& batch) {
  return convnet_flop(shape, batch.batch_size);
}
StepFlop bert_step(const ModelShape& shape, const BatchShape& batch) {
  return bert_flop(shape, batch.batch_size, batch.sequence_length);
}

StepFlop lstm_step(const ModelShape& shape, const BatchShape& batch) {
  return lstm_flop(shape, batch.batch_size, batch.sequence_length);
}

struct ClosedForm {
  const char* type;
  int64_t (*parameters)(const ModelShape&);
  StepFlop (*flop)(const ModelShape&, const BatchShape&);
};

/// Every built-in model; a new one is a line here.
constexpr ClosedForm kClosedForms[] = {
    {"llama", llama_parameters, transformer_flop},
    {"gpt2", gpt2_parameters, transformer_flop},
    {"mlp", mlp_parameters, mlp_step},
    {"resnet", resnet_parameters, resnet_step},
    {"vit", vit_parameters, vit_step},
    {"bert", bert_parameters, bert_step},
    {"convnet", convnet_parameters, convnet_step},
    {"mixtral", mixtral_parameters, transformer_flop},
    {"lstm", lstm_parameters, lstm_step},
};

/// @throws Error 200 for an unknown type and for a shape without a meaning.
const ClosedForm& form_of(const ModelShape& shape) {
  std::string known;
  for (const ClosedForm& form : kClosedForms) {
    known += (known.empty() ? "" : ", ") + std::string(form.type);
    if (shape.type != form.type) continue;
    if (shape.layers < 0 || (form.flop == transformer_flop && shape.heads <= 0)) {
      throw usage_error(
          fmt::format("model: {} layers and {} heads; give positive numbers", shape.layers, shape.heads));
    }
    return form;
  }
  throw usage_error(fmt::format("model.type: no built-in model \"{}\"; there are {}", shape.type, known));
}

/// The same with attention counted half: of the forward's two products and the backward's four.
StepFlop causal_half(StepFlop step) {
  const auto layers = static_cast<int64_t>(step.blocks.size());
  for (int64_t& block : step.blocks) block -= step.scores / layers;
  step.forward -= step.scores;
  step.backward -= 2 * step.scores;
  step.scores /= 2;
  return step;
}

void check_decoder(const ModelShape& shape) {
  if (form_of(shape).flop != transformer_flop) {
    throw usage_error(fmt::format("model.type {}: is no decoder; give a llama, gpt2 or mixtral", shape.type));
  }
}

}  // namespace

bool is_decoder(const ModelShape& shape) {
  return std::any_of(std::begin(kClosedForms), std::end(kClosedForms), [&](const ClosedForm& form) {
    return form.flop == transformer_flop && shape.type == form.type;
  });
}

int64_t count_parameters(const ModelShape& shape) {
  return form_of(shape).parameters(shape);
}

int64_t count_active_parameters(const ModelShape& shape) {
  return shape.experts > 0 ? llama_parameters(shape) : count_parameters(shape);
}

int64_t count_matmul_parameters(const ModelShape& shape) {
  check_decoder(shape);
  return transformer_matrices(shape);
}

int64_t count_attention_parameters(const ModelShape& shape) {
  check_decoder(shape);
  return attention_matrices(shape);
}

FlopTotals closed_form_flops(const ModelShape& shape, const BatchShape& batch, const StepForm& form) {
  StepFlop one = form_of(shape).flop(shape, batch);
  const bool causal = form.causal_convention && is_decoder(shape);
  if (causal) one = causal_half(std::move(one));
  FlopTotals totals;
  totals.attention_convention = form.causal_convention ? "causal" : "full";
  totals.forward_flop = one.forward;
  totals.backward_flop = one.backward;
  totals.backward_hardware_flop = checked_add(one.backward, form.fused_attention ? one.scores : 0);
  for (size_t i = 0; form.checkpoint_interval > 0 && i < one.blocks.size();
       i += static_cast<size_t>(form.checkpoint_interval)) {
    totals.recompute_flop = checked_add(totals.recompute_flop, one.blocks[i]);
  }
  return repeated(totals, form.micro_batches);
}

}  // namespace flopmark
