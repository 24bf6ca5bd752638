#include "flops/flop_tally.h"

#include <fmt/format.h>

#include <stdexcept>

#include "flops/checked_math.h"

namespace flopmark {
namespace {

void add_to(int64_t& total, int64_t amount) {
  total = checked_add(total, amount);
}

/// The four counts that totals and modules share.
template <typename Counts>
void add_part(Counts& counts, FlopPart part, const OperatorFlop& flop) {
  switch (part) {
    case FlopPart::forward:
      add_to(counts.forward_flop, flop.model_flop);
      break;
    case FlopPart::backward:
      add_to(counts.backward_flop, flop.model_flop);
      add_to(counts.backward_hardware_flop, flop.hardware_flop);
      break;
    case FlopPart::recompute:
      add_to(counts.recompute_flop, flop.hardware_flop);
      break;
    case FlopPart::optimizer:
      break;
  }
}

}  // namespace

AttentionConvention attention_convention(const std::string& name) {
  if (name == "full") return AttentionConvention::full;
  if (name == "causal") return AttentionConvention::causal;
  throw std::invalid_argument(fmt::format("attention convention \"{}\" is neither full nor causal", name));
}

FlopTotals repeated(const FlopTotals& totals, int64_t count) {
  FlopTotals all = totals;
  const auto times = [count](std::initializer_list<int64_t*> values) {
    for (int64_t* value : values) *value = checked_multiply(*value, count);
  };
  times({&all.forward_flop, &all.backward_flop, &all.backward_hardware_flop, &all.recompute_flop,
         &all.optimizer_flop});
  for (auto& row : all.by_operator) times({&row.calls, &row.model_flop, &row.hardware_flop});
  for (auto& row : all.by_precision) times({&row.model_flop, &row.hardware_flop});
  for (auto& row : all.by_module) {
    times({&row.forward_flop, &row.backward_flop, &row.backward_hardware_flop, &row.recompute_flop});
  }
  for (auto& row : all.uncounted) times({&row.calls});
  return all;
}

FlopTally::FlopTally(AttentionConvention convention) : convention_(convention) {
  totals_.attention_convention = convention == AttentionConvention::causal ? "causal" : "full";
}

/// A multiply-add is 2 FLOPs, so that half of it is a whole number.
OperatorFlop FlopTally::by_convention(OperatorFlop flop) const {
  if (convention_ == AttentionConvention::causal && flop.causal) {
    flop.model_flop /= 2;
    flop.hardware_flop /= 2;
  }
  return flop;
}

ModuleFlops& FlopTally::module_row(const std::string& path) {
  const auto [row, is_new] = module_rows_.emplace(path, totals_.by_module.size());
  if (is_new) totals_.by_module.push_back({.path = path});
  return totals_.by_module[row->second];
}

void FlopTally::count(const CountedCall& call) {
  const OperatorFlop flop = by_convention(call.flop);
  if (call.part == FlopPart::optimizer) {
    add_to(totals_.optimizer_flop, flop.hardware_flop);
    return;
  }
  add_part(totals_, call.part, flop);
  add_part(module_row(call.module), call.part, flop);
  const int64_t model = call.part == FlopPart::recompute ? 0 : flop.model_flop;
  OperatorFlops& row = by_operator_[call.name];
  row.name = call.name;
  ++row.calls;
  add_to(row.model_flop, model);
  add_to(row.hardware_flop, flop.hardware_flop);
  PrecisionFlops& precision = by_precision_[call.precision];
  precision.precision = call.precision;
  add_to(precision.model_flop, model);
  add_to(precision.hardware_flop, flop.hardware_flop);
}

void FlopTally::list_uncounted(FlopPart part, const std::string& name) {
  ++uncounted_[name];
  totals_.lower_bound = totals_.lower_bound || part != FlopPart::optimizer;
}

FlopTotals FlopTally::totals() const {
  FlopTotals totals = totals_;
  for (const auto& [name, row] : by_operator_) totals.by_operator.push_back(row);
  for (const auto& [name, row] : by_precision_) totals.by_precision.push_back(row);
  for (const auto& [name, calls] : uncounted_) totals.uncounted.push_back({name, calls});
  return totals;
}

}  // namespace flopmark
