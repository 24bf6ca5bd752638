#include "flops/flop_tally.h"

#include "flops/checked_math.h"

namespace flopmark {

void FlopTally::count(FlopPart part, const std::string& name, const OperatorFlop& flop) {
  const auto add = [](int64_t& total, int64_t amount) { total = checked_add(total, amount); };
  switch (part) {
    case FlopPart::optimizer:
      add(totals_.optimizer_flop, flop.hardware_flop);
      return;
    case FlopPart::forward:
      add(totals_.forward_flop, flop.model_flop);
      break;
    case FlopPart::backward:
      add(totals_.backward_flop, flop.model_flop);
      add(totals_.backward_hardware_flop, flop.hardware_flop);
      break;
    case FlopPart::recompute:
      add(totals_.recompute_flop, flop.hardware_flop);
      break;
  }
  OperatorFlops& row = by_operator_[name];
  row.name = name;
  ++row.calls;
  add(row.model_flop, part == FlopPart::recompute ? 0 : flop.model_flop);
  add(row.hardware_flop, flop.hardware_flop);
}

void FlopTally::list_uncounted(FlopPart part, const std::string& name) {
  ++uncounted_[name];
  totals_.lower_bound = totals_.lower_bound || part != FlopPart::optimizer;
}

FlopTotals FlopTally::totals() const {
  FlopTotals totals = totals_;
  for (const auto& [name, row] : by_operator_) {
    totals.by_operator.push_back(row);
  }
  for (const auto& [name, calls] : uncounted_) {
    totals.uncounted.push_back({name, calls});
  }
  return totals;
}

}  // namespace flopmark
