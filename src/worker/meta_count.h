#pragma once

#include <cstdint>

#include "config/run_config.h"
#include "flopmark/flop_totals.h"

namespace flopmark {

/// FLOPs of one optimizer step, counted where nothing is computed.
struct MetaCount {
  FlopTotals flops;
  int64_t parameters = 0;  ///< values, shared ones once
};

/// Runs one micro-batch of a built-in model forward and backward on the meta device: no memory, no data, no
/// GPU. train.attention_kernel says which attention is assumed; auto is fused. The optimizers there are
/// multiply no matrices, so none is run. @throws Error 200 for a model that cannot be built.
MetaCount count_on_meta(const RunConfig& config);

}  // namespace flopmark
