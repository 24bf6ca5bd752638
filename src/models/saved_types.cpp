#include "models/saved_types.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "flopmark/error.h"
#include "models/model_loss.h"

namespace flopmark {

void SavedTypes::add(const torch::Tensor& tensor) {
  if (tensor.defined() && tensor.is_floating_point()) types_.insert(tensor.scalar_type());
}

std::string SavedTypes::text() const {
  std::string text;
  for (const torch::Dtype type : types_) {
    text += (text.empty() ? "" : " and ") + std::string(c10::toString(type));
  }
  return text;
}

std::string type_complaint(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  text = text.substr(0, text.find_last_not_of('\n') + 1);
  text = text.substr(text.rfind('\n') + 1);
  // What a graph's node adds speaks of dtypes, too.
  const std::string reason =
      torch_error != nullptr ? torch_error->msg() : text.substr(0, text.find(" (in node"));
  const bool is_of_types =
      reason.find("dtype") != std::string::npos || reason.find("scalar type") != std::string::npos;
  return is_of_types ? text : "";
}

void check_trainable_type(const torch::Tensor& parameter, const std::string& place) {
  switch (parameter.scalar_type()) {
    case torch::kDouble:
    case torch::kFloat:
    case torch::kHalf:
    case torch::kBFloat16:
      return;
    default:
      throw judge_error(fmt::format(
          "{}: a parameter that requires a gradient is {}, which no optimizer here updates; save the model "
          "with such parameters frozen, or in float32, float64, float16 or bfloat16",
          place, sizes_text(parameter)));
  }
}

}  // namespace flopmark
