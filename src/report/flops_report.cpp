#include "report/flops_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "flops/checked_math.h"
#include "flops/conventions.h"
#include "flops/module_totals.h"
#include "measure/samples.h"
#include "report/units.h"

namespace flopmark {
namespace {

using Row = std::vector<std::string>;

std::string share_of(int64_t part, int64_t whole) {
  return whole == 0 ? "" : format_share(static_cast<double>(part) / static_cast<double>(whole));
}

std::string phase_table(const FlopTotals& flops, TableStyle style) {
  Grid grid{.align = "lrr", .rows = {{"phase", "model FLOP", "hardware FLOP"}}};
  const auto add = [&](const char* phase, int64_t model, int64_t hardware) {
    grid.rows.push_back({phase, format_count(model), format_count(hardware)});
  };
  add("forward", flops.forward_flop, flops.forward_flop);
  add("backward", flops.backward_flop, flops.backward_hardware_flop);
  add("recompute", 0, flops.recompute_flop);
  add("step", flops.model_flop(), flops.hardware_flop());
  if (flops.optimizer_flop > 0) add("optimizer, in neither", flops.optimizer_flop, flops.optimizer_flop);
  return format_grid(grid, style);
}

std::string operator_table(const FlopTotals& flops, TableStyle style) {
  std::vector<OperatorFlops> rows = flops.by_operator;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.hardware_flop > b.hardware_flop; });
  Grid grid{.align = "lrrrr", .rows = {{"operator", "calls", "model FLOP", "hardware FLOP", "of hardware"}}};
  for (const OperatorFlops& row : rows) {
    grid.rows.push_back({printable(row.name), format_count(row.calls), format_count(row.model_flop),
                         format_count(row.hardware_flop),
                         share_of(row.hardware_flop, flops.hardware_flop())});
  }
  return format_grid(grid, style);
}

std::string module_table(const FlopTotals& flops, TableStyle style, size_t depth) {
  Grid grid{.align = "lrrrrr",
            .rows = {{"module", "forward", "backward", "recompute", "hardware FLOP", "of hardware"}}};
  for (const ModuleFlops& row : modules_at_depth(flops.by_module, depth)) {
    grid.rows.push_back({row.path.empty() ? "(outside)" : printable(row.path), format_count(row.forward_flop),
                         format_count(row.backward_flop), format_count(row.recompute_flop),
                         format_count(row.hardware_flop()),
                         share_of(row.hardware_flop(), flops.hardware_flop())});
  }
  return format_grid(grid, style);
}

std::string precision_table(const FlopTotals& flops, TableStyle style) {
  Grid grid{.align = "lrr", .rows = {{"number type", "model FLOP", "hardware FLOP"}}};
  for (const PrecisionFlops& row : flops.by_precision) {
    grid.rows.push_back({row.precision, format_count(row.model_flop), format_count(row.hardware_flop)});
  }
  return format_grid(grid, style);
}

std::string uncounted_table(const FlopTotals& flops, TableStyle style) {
  Grid grid{.align = "lr", .rows = {{"computes, but has no rule", "calls"}}};
  for (const UncountedOperator& row : flops.uncounted) {
    grid.rows.push_back({printable(row.name), format_count(row.calls)});
  }
  return format_grid(grid, style);
}

/// FLOPs of the step by a convention, and its difference from ours.
struct ConventionRow {
  const FlopConvention* convention;
  int64_t step_flop;
  double difference_ratio;
};

std::vector<ConventionRow> convention_rows(const FlopsSubject& subject) {
  std::vector<ConventionRow> rows;
  if (!subject.formulas || subject.flops.model_flop() == 0) return rows;
  const auto ours = static_cast<double>(subject.flops.model_flop());
  for (const FlopConvention& convention : flop_conventions()) {
    const int64_t step =
        checked_multiply(convention.flop_per_token(subject.formulas->shape), subject.formulas->tokens);
    rows.push_back({&convention, step, static_cast<double>(step) / ours - 1});
  }
  return rows;
}

std::string convention_table(const FlopsSubject& subject, TableStyle style) {
  Grid grid{.align = "llrr",
            .rows = {{"convention", "per token", "FLOP per step", "against ours"},
                     {"ours", "operators counted", format_count(subject.flops.model_flop()), ""}}};
  for (const ConventionRow& row : convention_rows(subject)) {
    grid.rows.push_back({row.convention->key, row.convention->formula, format_count(row.step_flop),
                         fmt::format("{:+.2f} %", 100 * row.difference_ratio + 0.0)});
  }
  return format_grid(grid, style);
}

std::string attention_text(const FlopsSubject& subject) {
  const bool causal = subject.flops.attention_convention == "causal";
  std::string text = causal ? "half where an operator is called with is_causal on as many keys as queries"
                            : "in full, queries times keys";
  if (subject.attention_kernel == "fused") {
    text += "; kernel fused: its backward computes Q K^T once more, in the hardware count only";
  } else if (subject.attention_kernel == "unfused") {
    text += "; kernel unfused: matrix products";
  }
  return text;
}

Facts facts_of(const FlopsSubject& subject) {
  Facts facts = {
      {"model", printable(subject.model) + ", " + format_count(subject.parameters) + " parameters"},
      {"step", subject.step + ", forward and backward, one rank"},
      {"counted", subject.counted_on == "meta"
                      ? "from the operators on the meta device: nothing was computed"
                      : "from the operators of one real step on " + subject.counted_on},
      {"unit", "1 multiply-add = 2 FLOP; products of matrices, convolutions and attention"}};
  if (subject.active_parameters) {
    facts.emplace_back("experts",
                       format_count(*subject.active_parameters) +
                           " parameters per token; which experts it meets depends on the data and changes no "
                           "total: rows of single experts are those of an even spread");
  }
  if (subject.attention_kernel != "none") facts.emplace_back("attention", attention_text(subject));
  if (subject.flops.lower_bound) {
    facts.emplace_back("warning", "lower bound: operators that compute have no rule, see below");
  }
  return facts;
}

}  // namespace

std::string flops_tables(const FlopsSubject& subject, TableStyle style, size_t depth) {
  const FlopTotals& flops = subject.flops;
  std::vector<std::string> parts = {format_facts(facts_of(subject), style), phase_table(flops, style),
                                    operator_table(flops, style), module_table(flops, style, depth)};
  if (flops.by_precision.size() > 1) parts.push_back(precision_table(flops, style));
  if (!flops.uncounted.empty()) parts.push_back(uncounted_table(flops, style));
  if (subject.formulas) parts.push_back(convention_table(subject, style));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "\n") + part;
  return text;
}

nlohmann::ordered_json flops_json(const FlopsSubject& subject, std::optional<size_t> depth) {
  FlopTotals flops = subject.flops;
  if (depth) flops.by_module = modules_at_depth(flops.by_module, *depth);
  nlohmann::ordered_json document = {{"name", subject.name},
                                     {"model", subject.model},
                                     {"parameters", subject.parameters},
                                     {"counted_on", subject.counted_on},
                                     {"attention_kernel", subject.attention_kernel}};
  if (subject.active_parameters) document["active_parameters"] = *subject.active_parameters;
  const nlohmann::json totals = to_json(flops);
  for (const auto& [key, value] : totals.items()) document[key] = value;
  for (const ConventionRow& row : convention_rows(subject)) {
    document["conventions"].push_back({{"convention", row.convention->key},
                                       {"formula", row.convention->formula},
                                       {"step_flop", row.step_flop},
                                       {"difference_ratio", row.difference_ratio}});
  }
  return document;
}

}  // namespace flopmark
