#include <fmt/format.h>

#include <algorithm>

#include "report/mfu_parts.h"
#include "report/mfu_report.h"
#include "report/units.h"

namespace flopmark {
namespace {

struct CaseFigures {
  FlopRates rates;
  Utilization use;
};

CaseFigures figures_of(const MfuCase& row) {
  CaseFigures figures;
  figures.rates = rates_of(row.shape, row.tokens_per_s_per_device, *row.convention, row.hardware_rule);
  figures.use = utilization_of(figures.rates, row.peak_flop_per_s);
  return figures;
}

/// The unit stands in the heading, so that a row fits.
std::string tera(std::optional<double> flop_per_s) {
  return flop_per_s ? fmt::format("{:.2f}", *flop_per_s / 1e12) : "n/a";
}

std::string impossible_case(const MfuCase& row, const Utilization& use) {
  if (use.is_possible()) return "";
  return fmt::format(
      "{}: above 100 % is impossible ({}): no device does more than its peak. Used: {} tokens/s per device "
      "on {}, peak {} per device. Check the row's run and hardware",
      printable(row.id), impossible_figure(use), format_rate(row.tokens_per_s_per_device),
      device_count_text(row.devices), format_flop_per_s(row.peak_flop_per_s));
}

/// The rules that the cases use, each once.
Facts used_rules(const std::vector<MfuCase>& cases) {
  Facts rules;
  for (const FlopConvention& convention : flop_conventions()) {
    const auto uses = [&](const MfuCase& row) { return row.convention == &convention; };
    if (std::any_of(cases.begin(), cases.end(), uses)) {
      rules.emplace_back(convention.published_key, fmt::format("{} FLOP per token", convention.formula));
    }
  }
  for (const HardwareRule& rule : hardware_rules()) {
    const auto uses = [&](const MfuCase& row) { return row.hardware_rule == &rule; };
    if (std::any_of(cases.begin(), cases.end(), uses)) rules.emplace_back(rule.published_key, rule.rule);
  }
  return rules;
}

}  // namespace

std::string case_table(const std::vector<MfuCase>& cases, TableStyle style) {
  Grid grid{"lrrrrll", {{"id", "MFU", "HFU", "model", "hardware", "formula", "hfu_formula"}}};
  Facts impossible;
  for (const MfuCase& row : cases) {
    const CaseFigures figures = figures_of(row);
    grid.rows.push_back({printable(row.id), format_ratio(figures.use.mfu_ratio),
                         format_ratio(figures.use.hfu_ratio), tera(figures.rates.model_flop_per_s),
                         tera(figures.rates.hardware_flop_per_s), row.convention->published_key,
                         row.hardware_rule ? row.hardware_rule->published_key : "none stated"});
    const std::string text = impossible_case(row, figures.use);
    if (!text.empty()) impossible.emplace_back("INVALID", text);
  }
  return format_grid(grid, style) +
         "\nmodel and hardware: TFLOP/s of one device; MFU and HFU: shares of the row's peak.\n" +
         rules_text(used_rules(cases), style) +
         (impossible.empty() ? "" : "\n" + format_facts(impossible, style));
}

nlohmann::ordered_json case_json(const std::vector<MfuCase>& cases) {
  auto document = nlohmann::ordered_json::object();
  for (const MfuCase& row : cases) {
    const CaseFigures figures = figures_of(row);
    nlohmann::ordered_json object = {
        {"id", row.id},
        {"formula", row.convention->published_key},
        {"hfu_formula", row.hardware_rule ? nlohmann::ordered_json(row.hardware_rule->published_key)
                                          : nlohmann::ordered_json(nullptr)},
        {"devices", row.devices},
        {"peak_flop_per_s", row.peak_flop_per_s},
        {"tokens_per_s_per_device", row.tokens_per_s_per_device},
        {"model_flop_per_token", row.convention->flop_per_token(row.shape)}};
    add_utilization(figures.rates, figures.use, object);
    add_status(impossible_case(row, figures.use), object);
    document[row.id] = std::move(object);
  }
  return document;
}

}  // namespace flopmark
