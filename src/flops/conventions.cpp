#include "flops/conventions.h"

#include <algorithm>

#include "flops/checked_math.h"

// Sources: 6 N + 12 L H Q T: Chowdhery et al., "PaLM", arXiv:2204.02311, appendix B. 6 N: Kaplan et al.,
// "Scaling Laws for Neural Language Models", arXiv:2001.08361, section 2.1. 6 Nmm + 12 L H Q T with its
// recomputation: Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models",
// arXiv:2205.05198, appendix A. 6 N + 6 L d T: gpt2_estimate_mfu in karpathy/llm.c, train_gpt2.cu.

namespace flopmark {
namespace {

constexpr int64_t kFullAttention = 4;
constexpr int64_t kCausalAttention = 2;

/// L H Q T.
int64_t attention_unit(const TransformerShape& shape) {
  return checked_product({shape.layers, shape.heads, shape.head_size, shape.sequence_length});
}

/// 6 x parameters + `per_unit` x unit.
int64_t matrices_and_attention(int64_t parameters, int64_t per_unit, int64_t unit) {
  return checked_add(checked_multiply(6, parameters), checked_multiply(per_unit, unit));
}

int64_t palm_all(const TransformerShape& shape) {
  return matrices_and_attention(shape.parameters, 12, attention_unit(shape));
}
int64_t palm_no_input_embedding(const TransformerShape& shape) {
  return matrices_and_attention(shape.parameters_without_input_embedding, 12, attention_unit(shape));
}
int64_t sixn_all(const TransformerShape& shape) {
  return checked_multiply(6, shape.parameters);
}
int64_t matmul_full(const TransformerShape& shape) {
  return matrices_and_attention(shape.matmul_parameters, 12, attention_unit(shape));
}
int64_t matmul_causal(const TransformerShape& shape) {
  return matrices_and_attention(shape.matmul_parameters, 6, attention_unit(shape));
}
int64_t llmc(const TransformerShape& shape) {
  return matrices_and_attention(shape.parameters, 6,
                                checked_product({shape.layers, shape.hidden_size, shape.sequence_length}));
}

double counted_flop(const TransformerShape& shape, const FlopConvention& convention) {
  return static_cast<double>(convention.flop_per_token(shape));
}

double nothing_rerun(const TransformerShape& shape, const FlopConvention& convention) {
  return counted_flop(shape, convention);
}
double four_thirds(const TransformerShape& shape, const FlopConvention& convention) {
  return counted_flop(shape, convention) * 4 / 3;
}
double blocks_exact(const TransformerShape& shape, const FlopConvention& convention) {
  const int64_t matrices = checked_multiply(2, shape.matmul_parameters - shape.output_parameters);
  const int64_t attention = checked_multiply(convention.attention_forward, attention_unit(shape));
  return counted_flop(shape, convention) + static_cast<double>(checked_add(matrices, attention));
}
double attention_only(const TransformerShape& shape, const FlopConvention& convention) {
  return counted_flop(shape, convention) + static_cast<double>(checked_multiply(12, attention_unit(shape)));
}
double attention_rerun(const TransformerShape& shape, const FlopConvention& convention) {
  return counted_flop(shape, convention) +
         static_cast<double>(checked_multiply(convention.attention_forward, attention_unit(shape)));
}

template <typename Row>
const Row* row_by_key(const std::vector<Row>& rows, std::string_view key) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const Row& row) { return key == row.key || key == row.published_key; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<FlopConvention>& flop_conventions() {
  static const std::vector<FlopConvention> kRows = {
      {"palm_all", "PALM_ALL", "6 N + 12 L H Q T", "all parameters, attention in full: PaLM, nanoGPT",
       palm_all, kFullAttention},
      {"palm_no_input_embedding", "PALM_NO_INPUT_EMB", "6 (N - input embedding) + 12 L H Q T",
       "the same without the input embedding, a table look-up: torchtitan, nanochat", palm_no_input_embedding,
       kFullAttention},
      {"sixn_all", "SIXN_ALL", "6 N", "all parameters, no attention: the rule of thumb", sixn_all,
       kFullAttention},
      {"matmul_full", "MATMUL_FULL", "6 Nmm + 12 L H Q T",
       "every matmul, attention in full: exact for a dense decoder, and what flopmark counts", matmul_full,
       kFullAttention},
      {"matmul_causal", "MATMUL_CAUSAL", "6 Nmm + 6 L H Q T",
       "every matmul, attention below the diagonal only: Megatron-LM", matmul_causal, kCausalAttention},
      {"llmc", "LLMC", "6 N + 6 L d T", "all parameters, causal attention: llm.c", llmc, kCausalAttention},
  };
  return kRows;
}

const FlopConvention* find_flop_convention(std::string_view key) {
  return row_by_key(flop_conventions(), key);
}

const FlopConvention& exact_convention() {
  return *find_flop_convention("matmul_full");
}

const std::vector<HardwareRule>& hardware_rules() {
  static const std::vector<HardwareRule> kRows = {
      {"none", "NONE", "model FLOPs: nothing is re-run", nothing_rerun},
      {"four_thirds", "FOUR_THIRDS", "4/3 of model FLOPs: the rule of thumb for full checkpointing",
       four_thirds},
      {"blocks_exact", "BLOCKS_EXACT",
       "model FLOPs + every block's forward once more, the output layer's not: 2 (Nmm - output) + 4 L H Q T "
       "(2 where the convention is causal)",
       blocks_exact},
      {"attention_only", "ATTENTION_ONLY",
       "model FLOPs + 12 L H Q T: selective checkpointing as Megatron-LM's paper counts it", attention_only},
      {"attention_rerun", "ATTENTION_RERUN",
       "model FLOPs + attention's forward once more, as executed: 4 L H Q T (2 where the convention is "
       "causal)",
       attention_rerun},
  };
  return kRows;
}

const HardwareRule* find_hardware_rule(std::string_view key) {
  return row_by_key(hardware_rules(), key);
}

}  // namespace flopmark
