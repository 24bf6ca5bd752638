#pragma once

#include <ATen/core/ivalue.h>
#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

#include "models/exported_inputs.h"
#include "models/exported_program.h"

namespace flopmark {

/// What a file of torch.export.save holds, ready to run.
struct LoadedExport {
  ExportedInputs inputs;
  ExportedProgram program{};
  std::vector<c10::IValue> stored{};        ///< parameters, buffers, constants: values of the first slots
  int first_mortal = 0;                     ///< the slot behind those
  std::vector<torch::Tensor> parameters{};  ///< each once, however many names it has
  std::vector<torch::Tensor> buffers{};     ///< the same
  std::vector<int> input_slots{};           ///< in the order of `inputs`
  int loss_slot = -1;                       ///< of the first result; -1 if that is no tensor
  std::vector<std::pair<int, int>> mutations{};  ///< slots of a buffer and of the value it is to have
};

/// Loads a file with its tensors on `device`. The file is not trusted: nothing of it runs while it is loaded.
/// @throws Error 125 as ExportedModel.
LoadedExport load_export(const std::string& path, const torch::Device& device);

}  // namespace flopmark
