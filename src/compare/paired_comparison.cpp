#include "compare/paired_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/metric_comparison.h"
#include "compare/paired_notes.h"
#include "compare/paired_reason.h"

namespace flopmark {
namespace {

RunRecord record_of(const PairedSide& side, const std::vector<LaunchSamples>& launches) {
  RecordInputs inputs = side.inputs;
  inputs.launches = launches;
  RunRecord record = assemble_record(inputs);
  for (const auto& [name, value] : side.environment) record.environment.variables[name] = value;
  return record;
}

double tolerance_of(const JudgeRule& rule, Summary summary) {
  for (const Gate& gate : rule.gates) {
    if (gate.summary == summary) return gate.tol_ratio;
  }
  return Gate{}.tol_ratio;
}

/// What the pairs say of throughput, on its own.
Change change_of_throughput(const PairedComparison& comparison) {
  const SummaryJudgement& judged = comparison.result.judgement.summaries.front();
  const double tolerance = tolerance_of(comparison.rule, Summary::throughput);
  const Gate gate{Summary::throughput, tolerance, true};
  if (judged.low_ratio && *judged.low_ratio > 0 && judged.change_ratio >= tolerance) return Change::worse;
  if (judged.high_ratio && *judged.high_ratio < 0) return Change::better;
  return judged.high_ratio && *judged.high_ratio < gate.good_bound_ratio() ? Change::same : Change::unsure;
}

bool does_other_work(const PairedComparison& comparison) {
  const auto differs = [](const MetricComparison& metric) { return metric.change == Change::differs; };
  return std::any_of(comparison.deterministic.begin(), comparison.deterministic.end(), differs) ||
         std::any_of(comparison.environment_differences.begin(), comparison.environment_differences.end(),
                     [](const EnvironmentDifference& difference) {
                       return difference.key.starts_with("config.data.") ||
                              difference.key.starts_with("config.train.gradient_accumulation");
                     });
}

/// Rates of equal work move with the step time, and are judged by its pairs; others by the tolerance.
void judge_metrics(PairedComparison& comparison, const RunRecord& a, const RunRecord& b) {
  const double tolerance = std::log1p(tolerance_of(comparison.rule, Summary::throughput));
  comparison.metrics = compare_metrics(a, b, {tolerance, tolerance, false});
  if (does_other_work(comparison)) return;
  const Change change = change_of_throughput(comparison);
  for (MetricComparison& metric : comparison.metrics) {
    if (metric.change != Change::not_measured && follows_step_time(metric)) metric.change = change;
  }
}

/// A loader that is too slow lengthens every step, the best ones too: told by the phase, not by the steps.
void name_the_data_path(PairedJudgement& judgement, const PairedComparison& comparison) {
  if (!judgement.cause) return;
  double data_s = 0, all_s = 0;
  for (const PhaseChange& phase : comparison.phases) {
    all_s += phase.change_s;
    if (phase.name == "data" && phase.changed) data_s = phase.change_s;
  }
  if (data_s <= 0 || data_s < all_s / 2) return;
  judgement.cause = Cause::data_path;
  judgement.reason = paired_reason(judgement, comparison.rule);
}

}  // namespace

std::vector<EnvironmentDifference> paired_differences(const PairedSide& a,
                                                      const std::vector<LaunchSamples>& launches_a,
                                                      const PairedSide& b,
                                                      const std::vector<LaunchSamples>& launches_b,
                                                      const DifferenceOptions& options) {
  DifferenceOptions with_builds = options;
  for (const char* key : {"config", "data", "attention_kernel", "environment.libtorch", "environment.cuda"}) {
    with_builds.allow.emplace_back(key);
  }
  return environment_differences(record_of(a, launches_a), record_of(b, launches_b), with_builds);
}

void describe(PairedComparison& comparison, const DifferenceOptions& options) {
  PairedResult& result = comparison.result;
  comparison.verdict = result.end == PairedEnd::not_comparable ? Verdict::not_comparable
                       : result.end == PairedEnd::failed       ? Verdict::unsure
                                                               : result.judgement.verdict;
  if (!result.pairs.empty()) {
    const RunRecord a = record_of(comparison.a, result.launches_a);
    const RunRecord b = record_of(comparison.b, result.launches_b);
    comparison.environment_differences =
        paired_differences(comparison.a, result.launches_a, comparison.b, result.launches_b, options);
    comparison.deterministic = compare_deterministic(a, b);
    judge_metrics(comparison, a, b);
    comparison.phases = phase_changes(result.launches_a, result.launches_b);
    name_the_data_path(result.judgement, comparison);
    comparison.loader = loader_queue(result.launches_a, result.launches_b);
    if (a.flops && b.flops) comparison.operators = operator_changes(*a.flops, *b.flops);
  }
  comparison.notes = paired_notes(comparison);
  comparison.reason = paired_verdict_text(comparison);
}

}  // namespace flopmark
