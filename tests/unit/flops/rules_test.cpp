#include "flops/rules.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "unit/flops/calls.h"

namespace flopmark {
namespace {

OperatorFlop seven(const OperatorCall&) {
  return {7, 9};
}

TEST(RuleTable, FindsByNameAndRefusesASecondRowOfOneName) {
  const RuleTable table({{"aten::a", seven}, {"aten::b", seven}});
  EXPECT_EQ(table.find("aten::b")->name, "aten::b");
  EXPECT_EQ(table.find("aten::c"), nullptr);
  try {
    RuleTable({{"aten::a", seven}, {"aten::b", seven}, {"aten::a", seven}});
    FAIL() << "no error";
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "two FLOP rules for aten::a: keep one");
  }
}

TEST(RuleTable, BuiltInRowsAreUniqueAndNotListedAsUncounted) {
  const auto& rules = built_in_rules().rules();
  EXPECT_GT(rules.size(), 70u);
  for (const FlopRule& rule : rules) {
    EXPECT_EQ(built_in_rules().find(rule.name), &rule);
    EXPECT_FALSE(computes_without_rule(rule.name)) << rule.name;
  }
}

TEST(CountCall, ComplexNumbersCostFourTimesAsMuch) {
  const OperatorFlop flop = count_call({"aten::a", seven}, {.name = "aten::a", .complex_values = true});
  EXPECT_EQ(flop.model_flop, 28);
  EXPECT_EQ(flop.hardware_flop, 36);
}

TEST(CountCall, RefusesOverflow) {
  const int64_t big = int64_t{1} << 21;
  EXPECT_EQ(flop("aten::mm", {tensor({big, big}), tensor({big, big / 4})}), int64_t{1} << 62);
  EXPECT_THROW(flop("aten::mm", {tensor({big, big}), tensor({big, big / 2})}), std::overflow_error);
}

}  // namespace
}  // namespace flopmark
