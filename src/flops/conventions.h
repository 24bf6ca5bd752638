#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "flops/transformer_shape.h"

namespace flopmark {

/// The ways in which FLOPs of training a decoder are counted, by name. Forward and backward, per token; 1
/// multiply-add = 2 FLOP. Left out by all: norms, activations, softmax, loss, optimizer.
struct FlopConvention {
  const char* key;            ///< palm_all
  const char* published_key;  ///< PALM_ALL: the same in tables of published figures
  const char* formula;        ///< FLOPs per token
  const char* meaning;        ///< what it counts, and who uses it
  /// @throws std::overflow_error beyond 64 bits.
  int64_t (*flop_per_token)(const TransformerShape& shape);
  /// Attention's forward as counted, in units of L H Q T: 4 (two matmuls in full), 2 where causal. A
  /// convention without attention has 4: what is re-run is executed in any case.
  int64_t attention_forward;
};

/// Every convention, palm_all first. "matmul_full" is the exact one: for a dense decoder it is forward +
/// backward to the last digit, as closed_form_flops and the operator count have it.
const std::vector<FlopConvention>& flop_conventions();

/// By key or published key; nullptr if there is none such.
const FlopConvention* find_flop_convention(std::string_view key);

/// The exact one: matmul_full.
const FlopConvention& exact_convention();

/// What the hardware executed, by activation checkpointing: model FLOPs of a convention and what was re-run.
/// What a fused attention kernel computes again inside its own backward is left out, as in published tables.
struct HardwareRule {
  const char* key;            ///< blocks_exact
  const char* published_key;  ///< BLOCKS_EXACT
  const char* rule;           ///< in words, FLOPs per token
  /// FLOPs per token. @throws std::overflow_error beyond 64 bits.
  double (*flop_per_token)(const TransformerShape& shape, const FlopConvention& convention);
};

/// Every rule, "none" first.
const std::vector<HardwareRule>& hardware_rules();

/// By key or published key; nullptr if there is none such.
const HardwareRule* find_hardware_rule(std::string_view key);

}  // namespace flopmark
