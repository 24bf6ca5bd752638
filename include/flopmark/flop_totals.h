#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flopmark {

/// FLOPs of all calls of one operator in one optimizer step of one rank. 1 multiply-add = 2 FLOPs.
struct OperatorFlops {
  std::string name;  ///< as dispatched, such as aten::mm
  int64_t calls = 0;
  int64_t model_flop = 0;     ///< what the mathematics needs (attention backward: 4 matmuls)
  int64_t hardware_flop = 0;  ///< what ran (fused attention backward: 5 matmuls; recomputation)
};

/// FLOPs of all calls whose products were computed in one number type: what an effective peak is made of.
struct PrecisionFlops {
  std::string precision;  ///< a row of the peak table: fp64, fp32, tf32, fp16, bf16, fp8, fp4, int8
  int64_t model_flop = 0;
  int64_t hardware_flop = 0;
};

/// FLOPs of one place of the model, without what lies deeper.
struct ModuleFlops {
  std::string path;  ///< layers.3.attention.wq; empty: outside any module
  int64_t forward_flop = 0;
  int64_t backward_flop = 0;           ///< model convention
  int64_t backward_hardware_flop = 0;  ///< what ran, recomputation not included
  int64_t recompute_flop = 0;

  int64_t model_flop() const { return forward_flop + backward_flop; }
  int64_t hardware_flop() const { return forward_flop + backward_hardware_flop + recompute_flop; }
};

/// An operator that computes and has no rule: listed, never guessed.
struct UncountedOperator {
  std::string name;
  int64_t calls = 0;
};

/// Exact FLOPs of one optimizer step (all its micro-batches) of one rank.
struct FlopTotals {
  int64_t forward_flop = 0;
  int64_t backward_flop = 0;           ///< model convention
  int64_t backward_hardware_flop = 0;  ///< what ran, recomputation of blocks not included
  int64_t recompute_flop = 0;          ///< forward re-run by activation checkpointing
  int64_t optimizer_flop = 0;          ///< in neither total
  /// full, or causal: operators called with is_causal on as many keys as queries count half.
  std::string attention_convention = "full";
  bool lower_bound = false;                  ///< an uncounted operator could matter
  std::vector<OperatorFlops> by_operator;    ///< sorted by name
  std::vector<PrecisionFlops> by_precision;  ///< sorted by precision; sums are those of by_operator
  std::vector<ModuleFlops> by_module;        ///< in order of first call; not in records
  std::vector<UncountedOperator> uncounted;  ///< sorted by name

  int64_t model_flop() const { return forward_flop + backward_flop; }
  int64_t hardware_flop() const { return forward_flop + backward_hardware_flop + recompute_flop; }
};

}  // namespace flopmark
