#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace flopmark {

/// Arithmetic on the numbers of a dynamic shape, as Python does it.
using SymbolicOperator = c10::IValue (*)(const std::vector<c10::IValue>&);

/// The operator of a target such as _operator.mul, math.trunc or torch.sym_max, and how many numbers it
/// takes.
struct SymbolicRow {
  const char* target;
  size_t arguments;
  SymbolicOperator run;  ///< @throws std::runtime_error on overflow, division by zero and what is no number
};

/// nullptr if there is none.
const SymbolicRow* find_symbolic_operator(const std::string& target);

}  // namespace flopmark
