#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "flops/rules.h"

namespace flopmark {

using Ints = std::vector<int64_t>;
using Bools = std::vector<bool>;

inline Argument tensor(Ints sizes) {
  return TensorShape{.sizes = std::move(sizes)};
}
inline Argument frozen(Ints sizes) {
  return TensorShape{.sizes = std::move(sizes), .needs_grad = false};
}
/// A one-dimensional integer tensor whose content is known.
inline Argument offsets(Ints values) {
  const auto count = static_cast<int64_t>(values.size());
  return TensorShape{.sizes = {count}, .values = std::move(values)};
}
inline constexpr std::monostate kNone{};

/// FLOPs of one call under the built-in rule of that name. @throws as the rule does.
inline OperatorFlop flop_of(const std::string& name, std::vector<Argument> arguments) {
  const FlopRule* rule = built_in_rules().find(name);
  if (rule == nullptr) {
    throw std::out_of_range("no rule for " + name);
  }
  return count_call(*rule, {.name = name, .arguments = std::move(arguments)});
}

/// Where model and hardware count are one number; -1 where they are not.
inline int64_t flop(const std::string& name, std::vector<Argument> arguments) {
  const OperatorFlop both = flop_of(name, std::move(arguments));
  return both.model_flop == both.hardware_flop ? both.model_flop : -1;
}

}  // namespace flopmark
