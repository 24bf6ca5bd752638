#pragma once

#include "config/run_config.h"
#include "flopmark/dataset.h"

namespace flopmark {

/// Holds a whole batch of a plug-in's data set against what the config's built-in model is trained on, once,
/// before any step: number of tensors, types, sizes, and values, of which those that are no id or class would
/// end a job on a GPU without a word on why.
/// @throws Error 200 saying what the model takes and what the data gave; what collate() throws.
void check_model_batch(const RunConfig& config, const Dataset& dataset);

}  // namespace flopmark
