#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/autocast.h"
#include "models/exported_arguments.h"
#include "models/symbolic_operators.h"

namespace flopmark {

/// One thing that a program does.
struct Instruction {
  enum class Kind { call, arithmetic, enter_grad, enter_autocast, leave };
  Kind kind = Kind::call;
  std::optional<c10::OperatorHandle> op{};  ///< call
  const SymbolicRow* symbolic = nullptr;    ///< arithmetic
  bool grad_enabled = false;                ///< enter_grad
  AutocastOptions autocast{};               ///< enter_autocast
  std::vector<ArgumentPlan> arguments{};
  /// Where its results go: one slot for each, or those of a list of tensors; slot -1 is nowhere.
  std::vector<std::vector<int>> results{};
  std::vector<int> dying{};  ///< slots that nothing reads after this
  std::string name{};        ///< of the node: relu_1
  std::string target{};      ///< torch.ops.aten.relu.default
  std::string module{};      ///< path of the module it belongs to; empty at the top
};

/// A graph as a list of operators, its regions inlined. Values are in slots; whoever runs it fills those of
/// the inputs.
struct ExportedProgram {
  std::vector<Instruction> instructions;
  int slots = 0;

  /// Notes what dies where: slots from `first_mortal` on that are not in `results`.
  void plan_deaths(int first_mortal, const std::vector<int>& results);
  /// Runs all of it. A failing operator's error is passed on with the node's name.
  void run(std::vector<c10::IValue>& values) const;
};

}  // namespace flopmark
