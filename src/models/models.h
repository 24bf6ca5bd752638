#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "flopmark/model.h"
#include "flopmark/model_shape.h"

namespace flopmark {

struct ModelOptions {
  torch::TensorOptions tensor;  ///< device (cpu, cuda, meta) and dtype of the parameters
  int64_t seed = 0;             ///< of the initial values; not used on meta and for a TorchScript model
  /// Blocks 0, interval, 2 x interval, ... run forward again in backward; 0: none. Built-in models only.
  int64_t checkpoint_interval = 0;
  int64_t inputs = 2;  ///< tensors of a batch, the target included
  /// Parameters of four dimensions lie in memory with their second one last (channels_last); a batch's images
  /// are given so, too. Built-in models only.
  bool channels_last = false;
};

/// A built-in model, its parameters created with `options.tensor` at once (no copy, no move), their initial
/// values from the seed only, not from threads; or one from a file (see TorchScriptModel, ExportedModel,
/// CheckedModel).
/// @throws Error 200 for an unknown type, and as the models' constructors.
std::unique_ptr<TrainableModel> make_model(const ModelShape& shape, const ModelOptions& options);

/// What a built-in model reads: token ids or images.
enum class InputKind { tokens, images };
InputKind input_kind(const ModelShape& shape);

}  // namespace flopmark
