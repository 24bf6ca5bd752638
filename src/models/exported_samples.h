#pragma once

#include <torch/types.h>

#include <vector>

#include "models/exported_archive.h"

namespace flopmark {

/// The tensors that the model was exported with, in the order of forward's arguments, on the CPU; none if the
/// archive has none that can be read. Only LibTorch's restricted unpickler reads them: no code runs.
std::vector<torch::Tensor> sample_inputs(ExportedArchive& archive);

}  // namespace flopmark
