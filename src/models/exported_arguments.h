#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <torch/types.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace flopmark {

/// A value of a graph: a constant, or the place where an earlier node, or an input, leaves it.
struct ValueSource {
  int slot = -1;  ///< -1: `constant`
  c10::IValue constant{};
};

/// How an argument of an operator is made when a graph runs.
struct ArgumentPlan {
  /// `value` is the one part itself; the others are lists of the parts.
  enum class Form { value, tensors, optional_tensors, ints, floats, bools };
  /// What a number becomes that another type is wanted for: a tensor that takes part in type promotion as a
  /// number does, or a float.
  enum class As { given, tensor, real };

  Form form = Form::value;
  As as = As::given;
  std::vector<ValueSource> parts{};

  /// The argument, with `slots` the values so far.
  c10::IValue value(const std::vector<c10::IValue>& slots) const;
};

/// What the arguments of a graph's nodes refer to.
struct ArgumentScope {
  /// The slot of a name. @throws std::runtime_error if there is none.
  std::function<int(const std::string&)> slot;
  torch::Device device = torch::kCPU;  ///< that every device in the graph becomes
};

/// Plans an argument as torch.export serialized it, for an operator that wants `schema`.
/// @throws std::runtime_error, in words, if it does not fit.
ArgumentPlan plan_argument(const nlohmann::json& argument, const c10::Argument& schema,
                           const ArgumentScope& scope);

/// A number of a symbolic shape, such as {"as_sym_int": {"as_name": "sym_size"}} or {"as_int": 3}.
ValueSource number_source(const nlohmann::json& argument, const ArgumentScope& scope);

}  // namespace flopmark
