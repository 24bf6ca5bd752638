#include "report/paired_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "compare/paired_reason.h"
#include "flopmark/counted.h"
#include "report/comparison_rows.h"
#include "report/metric_table.h"
#include "report/units.h"
#include "stats/quantile.h"

namespace flopmark {
namespace {

constexpr size_t kMostOperators = 10;

std::string interval_text(const std::optional<double>& low, const std::optional<double>& high) {
  if (!low || !high) return "n/a";
  return signed_percent(*low) + " to " + signed_percent(*high);
}

std::string role_text(const SummaryJudgement& judged, const PairedJudgement& judgement) {
  if (!judged.gates) return "for reading";
  return judgement.decided_by == judged.summary ? "decided" : "gate";
}

double median_of(const std::vector<MeasuredPair>& pairs, Summary summary, bool of_a) {
  std::vector<double> values;
  for (const MeasuredPair& pair : pairs) {
    values.push_back((of_a ? pair.a_s : pair.b_s)[static_cast<size_t>(summary)]);
  }
  return median(values);
}

std::string change_word(Change change) {
  if (change == Change::none) return "";
  return change == Change::not_measured ? "not measured on both sides" : to_text(change);
}

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? signed_percent(*ratio) : "n/a";
}

std::string exact_value(const MetricComparison& metric, const std::optional<double>& value) {
  if (!value) return "n/a";
  return metric.key == "loss_first" ? fmt::format("{:.4f}", *value)
                                    : format_count(static_cast<int64_t>(*value));
}

std::string signed_seconds(double s) {
  return (s < 0 ? "-" : "+") + format_seconds(std::abs(s));
}

int64_t moved_flop(const OperatorChange& change) {
  return std::abs(change.hardware_flop_b - change.hardware_flop_a);
}

}  // namespace

Grid paired_summary_grid(const PairedComparison& comparison) {
  const PairedResult& result = comparison.result;
  Grid grid{"lrrrlrl", {{"median launch", "A", "B", "change", "95 % interval", "would find", ""}}};
  for (const SummaryJudgement& judged : result.judgement.summaries) {
    grid.rows.push_back(
        {summary_title(judged.summary), format_seconds(median_of(result.pairs, judged.summary, true)),
         format_seconds(median_of(result.pairs, judged.summary, false)), signed_percent(judged.change_ratio),
         interval_text(judged.ci95_low_ratio, judged.ci95_high_ratio),
         format_share(judged.smallest_effect_ratio), role_text(judged, result.judgement)});
  }
  return grid;
}

Grid paired_metric_grid(const PairedComparison& comparison) {
  Grid grid{"lrrrl", {{"", "A", "B", "change", ""}}};
  for (const MetricComparison& metric : comparison.metrics) {
    if (metric.key == "step_s") continue;  // the summaries say more
    grid.rows.push_back({metric.title, format_metric(metric.unit, metric.a),
                         format_metric(metric.unit, metric.b), ratio_text(metric.change_ratio),
                         change_word(metric.change)});
  }
  for (const MetricComparison& metric : comparison.deterministic) {
    if (!metric.a && !metric.b) continue;
    grid.rows.push_back({metric.title, exact_value(metric, metric.a), exact_value(metric, metric.b),
                         ratio_text(metric.change_ratio), change_word(metric.change)});
  }
  return grid;
}

Grid paired_phase_grid(const PairedComparison& comparison) {
  Grid grid{"lrrrr", {{"phase", "A", "B", "change", "of the step"}}};
  for (const PhaseChange& phase : comparison.phases) {
    if (!phase.changed) continue;
    grid.rows.push_back({phase.name, format_seconds(phase.a_s), format_seconds(phase.b_s),
                         signed_seconds(phase.change_s), signed_percent(phase.step_share_ratio)});
  }
  return grid;
}

Grid paired_operator_grid(const PairedComparison& comparison) {
  std::vector<OperatorChange> operators = comparison.operators;
  std::stable_sort(operators.begin(), operators.end(), [](const OperatorChange& x, const OperatorChange& y) {
    return moved_flop(x) > moved_flop(y);
  });
  Grid grid{"lrrrr", {{"operator", "calls A", "calls B", "FLOPs A", "FLOPs B"}}};
  for (size_t i = 0; i < std::min(operators.size(), kMostOperators); ++i) {
    const OperatorChange& change = operators[i];
    grid.rows.push_back({printable(change.name), format_count(change.calls_a), format_count(change.calls_b),
                         format_count(change.hardware_flop_a), format_count(change.hardware_flop_b)});
  }
  return grid;
}

std::string paired_side_text(const PairedSide& side) {
  std::string text = side.label;
  for (const std::string& set : side.sets) text += "; --set " + set;
  for (const auto& [name, value] : side.environment) text += fmt::format("; {}={}", name, value);
  return printable(text);
}

std::string paired_extent_text(const PairedComparison& comparison) {
  const PairedResult& result = comparison.result;
  std::string text = fmt::format("{} of at most {}", counted(std::ssize(result.pairs), "pair"),
                                 comparison.rule.looks.back());
  if (result.pairs.empty()) return text;
  const MeasuredPair& last = result.pairs.back();
  const auto steps = std::ssize(result.launches_a.back().timed.step_s);
  text += last.whole_launches ? fmt::format(", whole launches in turn, {} each", counted(steps, "step"))
                              : fmt::format(", side by side, {} in {} each", counted(steps, "step"),
                                            counted(last.turns, "turn"));
  return text + fmt::format("; seed {}", comparison.seed);
}

std::string paired_difference_text(const EnvironmentDifference& difference) {
  const bool refuses = difference.kind == DifferenceClass::not_comparable && !difference.allowed;
  return fmt::format("{}: {} -> {}{}", printable(difference.key), printable(difference.a),
                     printable(difference.b), refuses ? " (not comparable)" : "");
}

}  // namespace flopmark
