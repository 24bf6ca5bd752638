#pragma once

#include <torch/types.h>

#include <exception>
#include <set>
#include <string>

namespace flopmark {

/// Floating types of a model's parameters and buffers as its file has them, before they are cast to the type
/// of a run; for messages.
class SavedTypes {
 public:
  void add(const torch::Tensor& tensor);
  /// More than one: the model's code then holds casts between them, which a cast of its tensors may not fit.
  bool mixed() const { return types_.size() > 1; }
  /// "Float and BFloat16".
  std::string text() const;

 private:
  std::set<torch::Dtype> types_;
};

/// Of a failed forward: the line that says why, if that is that types do not go together; else empty. The
/// last one, as the interpreter of TorchScript shows the model's source before it.
std::string type_complaint(const std::exception& error);

/// What is to be trained must be of a type that the optimizers update. `place` names the model in messages.
/// @throws Error 125 for complex numbers and floating types of one byte.
void check_trainable_type(const torch::Tensor& parameter, const std::string& place);

}  // namespace flopmark
