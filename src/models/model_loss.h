#pragma once

#include <ATen/core/ivalue.h>
#include <torch/types.h>

#include <string>

#include "flopmark/batch.h"

namespace flopmark {

/// The scalar loss in float32 that a forward's `output` means. Without `loss` the output is the loss itself;
/// with it (cross_entropy, mse), that of the output and the last input of `batch`. `place` names the model in
/// messages: model.torchscript /tmp/model.pt.
/// @throws Error 200 if the output is no tensor, does not go with the target, or has no gradient.
torch::Tensor loss_of(const c10::IValue& output, const std::string& loss, const Batch& batch,
                      const std::string& place);

/// "Float [2, 10]", for messages.
std::string sizes_text(const torch::Tensor& tensor);

/// Casts a floating tensor in place to `dtype`; Module::to() would cast whole numbers as well.
void cast_floating(torch::Tensor tensor, torch::Dtype dtype);

}  // namespace flopmark
