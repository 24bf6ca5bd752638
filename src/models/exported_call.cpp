#include "models/exported_call.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <stdexcept>

#include "config/key_value.h"
#include "models/model_file.h"
#include "models/tensor_operators.h"

namespace flopmark {
namespace {

using nlohmann::json;

constexpr const char* kPrefix = "torch.ops.";

/// aten::add.Tensor of torch.ops.aten.add.Tensor, aten::relu of torch.ops.aten.relu.default.
c10::OperatorName operator_name(const std::string& target) {
  const std::string name = target.rfind(kPrefix, 0) == 0 ? target.substr(std::string(kPrefix).size()) : "";
  const size_t space = name.find('.'), overload = name.rfind('.');
  if (space == std::string::npos || overload == space) {
    throw std::runtime_error(fmt::format("{} is no operator that is known here", quoted_text(target)));
  }
  const std::string last = name.substr(overload + 1);
  return {name.substr(0, space) + "::" + name.substr(space + 1, overload - space - 1),
          last == "default" ? "" : last};
}

std::string printed(const c10::OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

bool has_tensor(const c10::Type& type) {
  if (const auto* optional = type.castRaw<c10::OptionalType>())
    return has_tensor(*optional->getElementType());
  if (const auto* list = type.castRaw<c10::ListType>()) return has_tensor(*list->getElementType());
  return type.kind() == c10::TypeKind::TensorType;
}

/// An operator that makes tensors of nothing makes them on the default device, unless it is told another.
bool makes_from_nothing(const c10::FunctionSchema& schema) {
  return std::none_of(schema.arguments().begin(), schema.arguments().end(),
                      [](const c10::Argument& argument) { return has_tensor(*argument.type()); });
}

bool is_device(const c10::Argument& argument) {
  const auto optional = argument.type()->cast<c10::OptionalType>();
  return optional && optional->getElementType()->kind() == c10::TypeKind::DeviceObjType;
}

ArgumentPlan default_plan(const c10::Argument& argument, const c10::FunctionSchema& schema,
                          const ArgumentScope& scope) {
  if (is_device(argument) && makes_from_nothing(schema)) {
    return {.parts = {ValueSource{-1, scope.device}}};
  }
  if (!argument.default_value()) throw std::runtime_error("is missing");
  return {.parts = {ValueSource{-1, *argument.default_value()}}};
}

const json* find_input(const json& inputs, const std::string& name) {
  for (const json& input : inputs) {
    if (input.at("name") == name) return &input.at("arg");
  }
  return nullptr;
}

void check_names(const json& inputs, const c10::FunctionSchema& schema) {
  for (const json& input : inputs) {
    const auto& name = input.at("name").get_ref<const std::string&>();
    if (!schema.argumentIndexWithName(name)) {
      throw std::runtime_error(fmt::format("it has no argument {}: {}", quoted_text(name), c10::str(schema)));
    }
  }
}

}  // namespace

c10::OperatorHandle find_operator(const std::string& target) {
  const c10::OperatorName name = operator_name(target);
  const auto found = c10::Dispatcher::singleton().findSchema(name);
  const std::string text = quoted_text(printed(name));
  const bool refused = name.name.rfind("aten::", 0) == 0 && refuses_operator(name.name);
  if (!found && !refused) {
    throw std::runtime_error(
        fmt::format("LibTorch " TORCH_VERSION " has no operator {}; export the model without it", text));
  }
  if (refuses_operator(name.name) || wants_more_than_tensors(found->schema())) {
    throw std::runtime_error(
        fmt::format("{} is no tensor arithmetic: refused; export the model without it", text));
  }
  return *found;
}

std::vector<ArgumentPlan> plan_arguments(const json& inputs, const c10::FunctionSchema& schema,
                                         const ArgumentScope& scope) {
  check_names(inputs, schema);
  std::vector<ArgumentPlan> plans;
  for (const c10::Argument& argument : schema.arguments()) {
    const json* given = find_input(inputs, argument.name());
    try {
      plans.push_back(given != nullptr ? plan_argument(*given, argument, scope)
                                       : default_plan(argument, schema, scope));
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("argument {}: {}", argument.name(), reason_line(error)));
    }
  }
  return plans;
}

}  // namespace flopmark
