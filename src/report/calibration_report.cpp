#include "report/calibration_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compare/paired_reason.h"
#include "flopmark/counted.h"
#include "report/comparison_rows.h"
#include "report/grid.h"
#include "report/text_layout.h"
#include "report/units.h"

namespace flopmark {
namespace {

bool is_gate_of(const JudgeRule& rule, Summary summary) {
  for (const Gate& gate : rule.gates) {
    if (gate.summary == summary) return true;
  }
  return false;
}

std::string variance_text(const VarianceSplit& variance, size_t steps) {
  const std::string best =
      variance.best_steps
          ? fmt::format("about {:.0f} steps a launch use the time best (measure.steps is {})",
                        std::max(1.0, *variance.best_steps), steps)
          : fmt::format("launches are alike, so more than the {} steps of measure.steps always help", steps);
  return fmt::format(
      "launches differ by {}, steps within one by {}, and {:.1f} of these say as much as one "
      "that stands alone: {}",
      format_ratio(variance.between_ratio), format_ratio(variance.within_ratio), variance.correlation_steps,
      best);
}

nlohmann::json calibrated_json(const SummaryCalibration& summary, const JudgeRule& rule) {
  return {{"bias_ratio", summary.bias_ratio},
          {"mad_sigma_ratio", summary.mad_sigma_ratio},
          {"sd_ratio", summary.sd_ratio},
          {"p95_ratio", summary.p95_ratio},
          {"acf", summary.acf},
          {"tolerance_ratio", summary.tol_ratio},
          {"detectable_ratio", summary.detectable_ratio},
          {"gates", is_gate_of(rule, summary.summary)}};
}

nlohmann::json variance_json(const std::optional<VarianceSplit>& variance) {
  if (!variance) return nullptr;
  return {
      {"between_ratio", variance->between_ratio},
      {"within_ratio", variance->within_ratio},
      {"correlation_steps", variance->correlation_steps},
      {"best_steps", variance->best_steps ? nlohmann::json(*variance->best_steps) : nlohmann::json(nullptr)}};
}

}  // namespace

std::string calibration_text(const CalibrationReport& report) {
  const Calibration& calibration = report.calibration;
  Grid grid{"lrrrrrl",
            {{"a pair of one build", "spread", "95 % within", "bias", "tolerance", "would find", ""}}};
  for (const SummaryCalibration& summary : calibration.summaries) {
    grid.rows.push_back({summary_title(summary.summary), format_ratio(summary.mad_sigma_ratio),
                         format_ratio(summary.p95_ratio), signed_percent(summary.bias_ratio),
                         format_ratio(summary.tol_ratio), format_ratio(summary.detectable_ratio),
                         is_gate_of(report.rule, summary.summary) ? "gate" : "for reading"});
  }
  std::string text = hanging("config   ", printable(report.name)) +
                     hanging("pairs    ", fmt::format("{} on file, {} of them measured now",
                                                      calibration.pairs, report.fresh_pairs)) +
                     "\n" + format_grid(grid, TableStyle::text) + "\n";
  if (report.variance) text += hanging("variance ", variance_text(*report.variance, report.steps));
  text +=
      hanging("reading  ", fmt::format("a slowdown of the tolerance is called slower half the time; one of "
                                       "\"would find\" with 90 %, by {} pairs",
                                       report.rule.looks.back()));
  return text + "kept in  " + printable(report.path) + "\n";
}

std::string calibration_json(const CalibrationReport& report) {
  nlohmann::json summaries = nlohmann::json::object();
  for (const SummaryCalibration& summary : report.calibration.summaries) {
    summaries[to_text(summary.summary)] = calibrated_json(summary, report.rule);
  }
  const nlohmann::json whole{
      {"schema", "flopmark.calibration/1"},         {"name", report.name},
      {"pairs", report.calibration.pairs},          {"fresh_pairs", report.fresh_pairs},
      {"most_pairs", report.rule.looks.back()},     {"summaries", summaries},
      {"variance", variance_json(report.variance)}, {"path", report.path}};
  return whole.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace flopmark
