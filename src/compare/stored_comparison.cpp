#include "compare/stored_comparison.h"

#include <algorithm>
#include <cmath>

#include "compare/measured_record.h"
#include "compare/metric_comparison.h"
#include "compare/pair_conditions.h"
#include "compare/stored_reason.h"
#include "compare/stored_tolerance.h"
#include "stats/quantile.h"
#include "stats/rank_sum.h"

namespace flopmark {
namespace {

constexpr double kSixDigits = 2e-5;  // of a baseline; a difference of just the tolerance is beyond it
constexpr double kSide95 = 0.025;

bool is_gate(Summary summary) {
  return summary != Summary::typical;
}

Change change_of_time(double shift, const StoredTolerance& tolerance) {
  if (shift >= tolerance.slower - kSixDigits) return Change::worse;
  if (shift <= kSixDigits - tolerance.slower) return Change::better;
  return shift < tolerance.same ? Change::same : Change::unsure;
}

StoredTolerance tolerance_of(const RunRecord& a, const RunRecord& b, Summary summary,
                             const CompareOptions& options, const StoredComparison& found) {
  ToleranceInputs inputs;
  inputs.launches_a = launch_logs(a, summary);
  inputs.launches_b = launch_logs(b, summary);
  const auto at = static_cast<size_t>(summary);
  if (at < options.sittings.size()) inputs.sittings = options.sittings[at];
  inputs.environment_differs = !found.environment_differences.empty();
  if (found.ruler) inputs.ruler_ratio = found.ruler->ratio;
  return stored_tolerance(inputs);
}

SummaryComparison compare_summary(const RunRecord& a, const RunRecord& b, Summary summary,
                                  const StoredTolerance& tolerance) {
  const std::vector<double> logs_a = launch_logs(a, summary), logs_b = launch_logs(b, summary);
  const double shift = shift_estimate(logs_a, logs_b);
  SummaryComparison result;
  result.summary = summary;
  result.gates = is_gate(summary);
  result.a_s = std::exp(median(logs_a));
  result.b_s = std::exp(median(logs_b));
  result.change_ratio = std::expm1(shift);
  if (const auto interval = shift_interval(logs_a, logs_b, kSide95)) {
    result.ci95_low_ratio = std::expm1(interval->first);
    result.ci95_high_ratio = std::expm1(interval->second);
  }
  result.tolerance_ratio = std::expm1(tolerance.slower);
  result.calibrated = tolerance.calibrated;
  result.change = change_of_time(shift, tolerance);
  return result;
}

Verdict verdict_of_summaries(const std::vector<SummaryComparison>& summaries) {
  const auto any_gate = [&](Change change) {
    return std::any_of(summaries.begin(), summaries.end(), [&](const SummaryComparison& summary) {
      return summary.gates && summary.change == change;
    });
  };
  if (any_gate(Change::worse)) return Verdict::slower;
  if (any_gate(Change::unsure)) return Verdict::unsure;
  return summaries.front().change == Change::better ? Verdict::faster : Verdict::same;
}

}  // namespace

const char* to_text(Change change) {
  switch (change) {
    case Change::better:
      return "better";
    case Change::worse:
      return "worse";
    case Change::same:
      return "same";
    case Change::unsure:
      return "unsure";
    case Change::differs:
      return "differs";
    case Change::not_measured:
      return "not_measured";
    case Change::none:
      return "none";
  }
  return "none";
}

const SummaryComparison* StoredComparison::throughput() const {
  return summaries.empty() ? nullptr : &summaries.front();
}

StoredComparison compare_records(const RunRecord& a, const RunRecord& b, const CompareOptions& options) {
  require_measured(a, options.name_a, Side::reference);
  require_measured(b, options.name_b, Side::candidate);
  StoredComparison comparison;
  comparison.environment_differences = environment_differences(a, b, options.differences);
  if (!are_comparable(comparison.environment_differences)) {
    comparison.verdict = Verdict::not_comparable;
    comparison.reason = stored_reason(comparison);
    return comparison;
  }
  comparison.ruler = ruler_change(a, b);
  for (const Summary summary : kSummaries) {
    const StoredTolerance tolerance = tolerance_of(a, b, summary, options, comparison);
    comparison.summaries.push_back(compare_summary(a, b, summary, tolerance));
    if (summary == Summary::throughput) comparison.metrics = compare_metrics(a, b, tolerance);
  }
  comparison.deterministic = compare_deterministic(a, b);
  comparison.verdict = verdict_of_summaries(comparison.summaries);
  if (comparison.verdict == Verdict::slower) comparison.interference = disturbance_of(b).value_or("");
  if (!comparison.interference.empty()) comparison.verdict = Verdict::unsure;
  comparison.unconfirmed = comparison.verdict == Verdict::slower || comparison.verdict == Verdict::unsure;
  comparison.notes = stored_notes(comparison, a, b);
  comparison.reason = stored_reason(comparison);
  return comparison;
}

std::optional<std::string> disturbance_of(const RunRecord& record) {
  if (!record.conditions) return std::nullopt;
  return disturbance({0, record.conditions->others_cpu_ratio, record.conditions->steal_ratio});
}

ExitCode exit_code(const StoredComparison& comparison) {
  return comparison.interference.empty() ? exit_code(comparison.verdict) : ExitCode::interference;
}

}  // namespace flopmark
