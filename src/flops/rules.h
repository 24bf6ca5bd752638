#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flops/operator_call.h"

namespace flopmark {

/// FLOPs of one call. They differ only where a kernel recomputes: backward of fused attention.
struct OperatorFlop {
  int64_t model_flop = 0;
  int64_t hardware_flop = 0;
};

/// How one operator is counted. A rule multiplies shapes; what it cannot count it refuses with
/// std::invalid_argument.
struct FlopRule {
  std::string_view name;  ///< aten::mm
  OperatorFlop (*count)(const OperatorCall&);
  /// Used only where the operator runs without calling a counted one: on most devices it calls one.
  bool only_if_undecomposed = false;
  /// Integer tensor arguments whose content the rule needs.
  std::vector<size_t> values_of = {};
};

/// Rules by operator name.
class RuleTable {
 public:
  /// @throws std::logic_error if two rules have one name.
  explicit RuleTable(std::vector<FlopRule> rules);
  /// nullptr if the operator has no rule.
  const FlopRule* find(std::string_view name) const;
  const std::vector<FlopRule>& rules() const { return rules_; }

 private:
  std::vector<FlopRule> rules_;
  std::unordered_map<std::string_view, size_t> index_;
};

/// Every rule there is. To add one: a function and a row in one of the *_rules.cpp files.
const RuleTable& built_in_rules();

/// FLOPs of a call under its rule; complex numbers cost four times as much.
/// @throws std::overflow_error, std::invalid_argument if the rule cannot count these arguments.
OperatorFlop count_call(const FlopRule& rule, const OperatorCall& call);

/// Whether an operator without a rule multiplies and adds (fft, linear algebra, sparse and quantized
/// products, any custom operator), so that leaving it out could matter. Views, copies, elementwise work and
/// reductions do not.
bool computes_without_rule(std::string_view name);

/// The rows of each family.
std::vector<FlopRule> matmul_rules();
std::vector<FlopRule> convolution_rules();
std::vector<FlopRule> attention_rules();
std::vector<FlopRule> recurrent_rules();

}  // namespace flopmark
