#include "hardware/peak_row_check.h"

#include <fmt/format.h>

#include <cmath>

#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr double kAgreement = 0.01;
constexpr double kListedAgreement = 0.0005;  // listed deviations are rounded to 0.01 %

/// Types of one unit, each no wider than the one before.
const std::vector<std::vector<std::string>>& narrowing_types() {
  static const std::vector<std::vector<std::string>> kTypes = {
      {"fp64", "fp32"},
      {"fp64_tensor", "fp32_tensor", "tf32", "fp16", "fp8", "fp6", "fp4"},
      {"fp64_tensor", "fp32_tensor", "tf32", "bf16", "fp8", "fp6", "fp4"}};
  return kTypes;
}

void check_not_falling(const PeakRow& row, const std::vector<std::string>& types, const std::string& place) {
  std::string wider;
  for (const std::string& type : types) {
    const auto found = row.flop_per_s.find(type);
    if (found == row.flop_per_s.end()) continue;
    const double above = wider.empty() ? 0.0 : row.flop_per_s.at(wider);
    if (found->second < above) {
      throw usage_error(fmt::format(
          "{}: peak_tflops contradicts itself: {} has {:g}, less than the wider {} with {:g}; a unit is "
          "never slower on a smaller type, so one of the two is wrong (or sparse, where dense is meant)",
          place, type, found->second * 1e-12, wider, above * 1e-12));
    }
    wider = type;
  }
}

void check_computed(const PeakRow& row, const std::string& key, double peak, const std::string& place) {
  const auto computed = computed_peak(row, key);
  if (!computed) return;
  const double deviation = peak / *computed - 1;
  const auto listed = row.deviation_ratio.find(key);
  const bool agrees = listed == row.deviation_ratio.end()
                          ? std::abs(deviation) <= kAgreement
                          : std::abs(deviation - listed->second) <= kListedAgreement;
  if (agrees) return;
  throw usage_error(fmt::format(
      "{}: peak_tflops.{} is {:g}, but {} SMs x {:g} FLOP per clock x {:g} MHz are {:.4g} ({:+.2f} %); "
      "correct one of them, or list the difference in check_deviation_percent. A factor of 2 often is the "
      "figure with sparsity: the dense one is asked for",
      place, key, peak * 1e-12, *row.sm_count, row.flop_per_clock_per_sm.at(key), row.clock_hz.at(key) * 1e-6,
      *computed * 1e-12, deviation * 100));
}

}  // namespace

void check_peak_row(const PeakRow& row, const std::string& place) {
  for (const auto& types : narrowing_types()) check_not_falling(row, types, place);
  for (const auto& [key, peak] : row.flop_per_s) check_computed(row, key, peak, place);
}

}  // namespace flopmark
