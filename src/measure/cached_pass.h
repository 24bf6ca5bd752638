#pragma once

#include "measure/step_loop.h"

namespace flopmark {

/// As run_block(), but every step trains on one batch made before (TrainingStep::keep_batch): what a step
/// takes where the loader costs nothing, neither by waiting for it nor by the cores it keeps busy. One step
/// before is in no figure. The stage is `cached`, whose steps are counted from 1.
/// @throws as run_block(); as TrainingStep::end_block() of a batch that the model changed.
BlockSamples run_cached_pass(TrainingStep& step, Marker& marker, Clock& clock, const BlockOptions& options,
                             LoopState& state);

}  // namespace flopmark
