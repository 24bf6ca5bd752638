#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flops/operator_call.h"

namespace flopmark {

/// FLOPs of one call. They differ only where a kernel recomputes: backward of fused attention.
struct OperatorFlop {
  int64_t model_flop = 0;
  int64_t hardware_flop = 0;
  /// Attention called with is_causal on as many keys as queries: half of it under the causal convention.
  bool causal = false;
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
  /// Place of the first tensor that is multiplied: its number type is that of the products.
  size_t product_at = 0;
  /// Attention: the place of its query; key and value follow.
  std::optional<size_t> query_at = {};
};

/// Attention as the model asked for it, around the kernel that does it.
struct AttentionScope {
  bool causal = false;     ///< is_causal, on as many keys as queries
  int64_t key_size = 0;    ///< values per query and key head, before a kernel pads them
  int64_t value_size = 0;  ///< values per value head
};

/// What a call of scaled_dot_product_attention asks for; absent if its arguments cannot be read.
std::optional<AttentionScope> attention_scope(const OperatorCall& call);
/// The call with the head sizes of `scope`, where a kernel was given padded ones (flash attention on CUDA: to
/// a multiple of 8).
OperatorCall without_padding(OperatorCall call, const FlopRule& rule, const AttentionScope& scope);

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
