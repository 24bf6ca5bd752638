#pragma once

#include <cstdint>

#include "flopmark/flop_totals.h"
#include "flopmark/model_shape.h"

namespace flopmark {

/// Number of parameters of a built-in model, shared ones once.
int64_t count_parameters(const ModelShape& shape);

/// Whether the formulas of conventions.h are for this model: a decoder with attention (llama, gpt2, mixtral);
/// any
/// type may be asked for.
bool is_decoder(const ModelShape& shape);

/// Those that one token meets: all of them, but of a mixture of experts only as many experts as work on a
/// token.
int64_t count_active_parameters(const ModelShape& shape);

/// Parameters that one token meets in matmuls, the output layer's included and the input embedding's not:
/// each costs 2 FLOP per token forward. Decoders only. @throws Error 200 for another type.
int64_t count_matmul_parameters(const ModelShape& shape);

/// Those of query, key, value and output of one block; part of count_matmul_parameters. Decoders only.
int64_t count_attention_parameters(const ModelShape& shape);

/// One micro-batch of a built-in model.
struct BatchShape {
  int64_t batch_size = 1;
  int64_t sequence_length = 0;  ///< language models
};

/// How a step is made and counted.
struct StepForm {
  int64_t micro_batches = 1;
  bool fused_attention = true;      ///< the backward kernel recomputes Q K^T: 5 products instead of 4
  int64_t checkpoint_interval = 0;  ///< blocks 0, interval, 2 x interval, ... run forward again; 0: none
  bool causal_convention = false;   ///< causal attention counts half
};

/// FLOPs of one step by formula, without running anything. by_operator, by_module and by_precision are left
/// empty.
FlopTotals closed_form_flops(const ModelShape& shape, const BatchShape& batch, const StepForm& form);

}  // namespace flopmark
