#include "hardware/peak.h"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/peak_table.h"

namespace flopmark {
namespace {

constexpr const char* kByHand = "give its dense peak by hand with peak.flop_per_s (FLOP/s of one device)";

/// The row's peak for matmuls of `precision`. fp32 matmuls use the matrix units where those take fp32 (AMD
/// CDNA), so the higher of the two figures bounds them.
std::optional<double> matmul_peak(const PeakRow& row, const std::string& precision) {
  const auto peak_of = [&](const std::string& key) -> std::optional<double> {
    const auto found = row.flop_per_s.find(key);
    if (found == row.flop_per_s.end()) return std::nullopt;
    return found->second;
  };
  const auto vector_peak = peak_of(precision);
  const auto matrix_peak = precision == "fp32" ? peak_of("fp32_tensor") : std::nullopt;
  return std::max(vector_peak, matrix_peak);
}

Peak without_value(const std::string& device_name, const std::string& precision, const std::string& reason) {
  Peak peak;
  peak.precision = precision;
  peak.source = "none";
  if (!device_name.empty()) peak.device = device_name;
  peak.reason = reason;
  return peak;
}

}  // namespace

Peak lookup_peak(const std::string& device_name, const std::string& precision) {
  if (device_name.empty()) {
    return without_value(device_name, precision, fmt::format("the device did not say its name; {}", kByHand));
  }
  const PeakRow* row = find_peak_row(device_name);
  if (!row) {
    return without_value(device_name, precision,
                         fmt::format("no peak on file for \"{}\"; {}", device_name, kByHand));
  }
  const auto value = matmul_peak(*row, precision);
  if (!value) {
    return without_value(
        device_name, precision,
        fmt::format("the table has no {} peak for \"{}\" ({}); {}", precision, device_name,
                    row->notes.empty() ? "not a matrix format of this device" : row->notes, kByHand));
  }
  Peak peak;
  peak.flop_per_s = value;
  peak.precision = precision;
  peak.source = "table";
  peak.device = device_name;
  return peak;
}

std::string peak_precision(const std::string& configured) {
  return configured.substr(0, configured.find('-'));
}

Peak resolve_peak(std::optional<double> by_hand, const std::string& device_name,
                  const std::string& precision) {
  if (!by_hand) return lookup_peak(device_name, precision);
  Peak peak;
  peak.flop_per_s = by_hand;
  peak.precision = precision;
  peak.source = "by_hand";
  if (!device_name.empty()) peak.device = device_name;
  return peak;
}

}  // namespace flopmark
