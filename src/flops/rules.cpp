#include "flops/rules.h"

#include <fmt/format.h>

#include <iterator>
#include <stdexcept>
#include <utility>

#include "flops/checked_math.h"

namespace flopmark {
namespace {

std::vector<FlopRule> all_rules() {
  std::vector<FlopRule> all;
  for (auto&& family : {matmul_rules(), convolution_rules(), attention_rules(), recurrent_rules()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

}  // namespace

RuleTable::RuleTable(std::vector<FlopRule> rules) : rules_(std::move(rules)) {
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (!index_.emplace(rules_[i].name, i).second) {
      throw std::logic_error(fmt::format("two FLOP rules for {}: keep one", rules_[i].name));
    }
  }
}

const FlopRule* RuleTable::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &rules_[found->second];
}

const RuleTable& built_in_rules() {
  static const RuleTable kTable(all_rules());
  return kTable;
}

OperatorFlop count_call(const FlopRule& rule, const OperatorCall& call) {
  OperatorFlop flop = rule.count(call);
  if (call.complex_values) {
    flop.model_flop = checked_multiply(4, flop.model_flop);
    flop.hardware_flop = checked_multiply(4, flop.hardware_flop);
  }
  return flop;
}

}  // namespace flopmark
