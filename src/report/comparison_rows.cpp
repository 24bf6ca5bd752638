#include "report/comparison_rows.h"

#include <fmt/format.h>

#include "compare/paired_reason.h"
#include "report/metric_table.h"
#include "report/units.h"

namespace flopmark {
namespace {

constexpr size_t kShownCommit = 10;

std::string summary_note(const SummaryComparison& summary) {
  std::string note = summary.gates ? to_text(summary.change) : "for reading";
  if (summary.ci95_low_ratio && summary.ci95_high_ratio) {
    note += fmt::format("; launches {} to {}", signed_percent(*summary.ci95_low_ratio),
                        signed_percent(*summary.ci95_high_ratio));
  }
  return note + fmt::format("; tolerance {}{}", format_share(summary.tolerance_ratio),
                            summary.calibrated ? "" : ", uncalibrated");
}

std::string change_text(const std::optional<double>& change_ratio) {
  return change_ratio ? signed_percent(*change_ratio) : "n/a";
}

std::string change_note(Change change) {
  if (change == Change::none) return "";
  return change == Change::not_measured ? "not measured on both sides" : to_text(change);
}

std::string exact_text(const MetricComparison& metric, const std::optional<double>& value) {
  if (!value) return "n/a";
  return metric.key == "loss_first" ? fmt::format("{:.4f}", *value)
                                    : format_count(static_cast<int64_t>(*value));
}

}  // namespace

const char* summary_title(Summary summary) {
  switch (summary) {
    case Summary::throughput:
      return "Step time, mean";
    case Summary::typical:
      return "Step time, median";
    case Summary::floor:
      return "Step time, 10 % quantile";
  }
  return "Step time";
}

std::vector<ComparisonRow> comparison_rows(const StoredComparison& comparison) {
  std::vector<ComparisonRow> rows;
  for (const SummaryComparison& summary : comparison.summaries) {
    rows.push_back({summary_title(summary.summary), format_seconds(summary.a_s), format_seconds(summary.b_s),
                    signed_percent(summary.change_ratio), summary_note(summary)});
  }
  for (const MetricComparison& metric : comparison.metrics) {
    if (metric.key == "step_s") continue;  // the launches' summaries stand above
    rows.push_back({metric.title, format_metric(metric.unit, metric.a), format_metric(metric.unit, metric.b),
                    change_text(metric.change_ratio), change_note(metric.change)});
  }
  for (const MetricComparison& metric : comparison.deterministic) {
    if (!metric.a && !metric.b) continue;
    rows.push_back({metric.title, exact_text(metric, metric.a), exact_text(metric, metric.b),
                    change_text(metric.change_ratio), change_note(metric.change)});
  }
  return rows;
}

std::string record_origin(const RunRecord& record) {
  const std::string commit =
      record.subject.commit ? record.subject.commit->substr(0, kShownCommit) : "no commit";
  const std::string dirty = record.subject.dirty.value_or(false) ? " with uncommitted changes" : "";
  return printable(commit + dirty + ", " + record.time);
}

}  // namespace flopmark
