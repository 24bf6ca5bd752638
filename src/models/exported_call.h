#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/exported_arguments.h"

namespace flopmark {

/// The operator of a target such as torch.ops.aten.add.Tensor. @throws std::runtime_error if this LibTorch
/// has none of that name, or it is refused because it is no tensor arithmetic.
c10::OperatorHandle find_operator(const std::string& target);

/// The arguments of a call, in the order of the operator's schema: given by name, the others by default.
/// @throws std::runtime_error with the argument's name.
std::vector<ArgumentPlan> plan_arguments(const nlohmann::json& inputs, const c10::FunctionSchema& schema,
                                         const ArgumentScope& scope);

}  // namespace flopmark
