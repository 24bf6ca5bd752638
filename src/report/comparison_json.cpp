#include "report/comparison_parts_json.h"
#include "report/comparison_report.h"
#include "report/confirm_line.h"

namespace flopmark {
namespace {

using nlohmann::json;

json side_json(const FoundRecord& side) {
  return {{"source", side.source},
          {"name", side.record.name},
          {"commit", text_or_null(side.record.subject.commit)},
          {"time", side.record.time}};
}

json summary_json(const SummaryComparison& summary) {
  return {{"a_s", summary.a_s},
          {"b_s", summary.b_s},
          {"change_ratio", summary.change_ratio},
          {"ci95_low", finite_or_null(summary.ci95_low_ratio)},
          {"ci95_high", finite_or_null(summary.ci95_high_ratio)},
          {"tolerance_ratio", summary.tolerance_ratio},
          {"calibrated", summary.calibrated},
          {"gates", summary.gates},
          {"change", to_text(summary.change)}};
}

json ruler_json(const std::optional<RulerChange>& ruler) {
  if (!ruler) return nullptr;
  return {{"matmul_ratio", ruler->matmul_ratio},
          {"copy_ratio", ruler->copy_ratio},
          {"widened_by_ratio", ruler->ratio}};
}

}  // namespace

std::string comparison_json(const ComparisonReport& report) {
  const StoredComparison& comparison = report.comparison;
  const SummaryComparison* throughput = comparison.throughput();
  json summaries = json::object();
  for (const SummaryComparison& summary : comparison.summaries) {
    summaries[to_text(summary.summary)] = summary_json(summary);
  }
  const json whole = {
      {"schema", "flopmark.comparison/1"},
      {"verdict", to_text(comparison.verdict)},
      {"unconfirmed", comparison.unconfirmed},
      {"reason", comparison.reason},
      {"confirm",
       comparison.unconfirmed ? json(confirm_line(report.a.record, report.b.record)) : json(nullptr)},
      {"change_ratio", throughput ? json(throughput->change_ratio) : json(nullptr)},
      {"ci95_low", throughput ? finite_or_null(throughput->ci95_low_ratio) : json(nullptr)},
      {"ci95_high", throughput ? finite_or_null(throughput->ci95_high_ratio) : json(nullptr)},
      {"tolerance_ratio", throughput ? json(throughput->tolerance_ratio) : json(nullptr)},
      {"a", side_json(report.a)},
      {"b", side_json(report.b)},
      {"environment_differences", differences_json(comparison.environment_differences)},
      {"ruler", ruler_json(comparison.ruler)},
      {"summaries", summaries},
      {"metrics", metrics_json(comparison.metrics)},
      {"deterministic", metrics_json(comparison.deterministic)},
      {"notes", comparison.notes}};
  return whole.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace flopmark
