#include "hardware/peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "hardware/peak_reason.h"

namespace flopmark {
namespace {

constexpr double kSameCount = 0.01;  // SM counts and clocks closer than this are the same

std::optional<double> figure(const PeakRow& row, const std::string& key) {
  const auto found = row.flop_per_s.find(key);
  return found == row.flop_per_s.end() ? std::nullopt : std::optional(found->second);
}

bool differs(double value, double reference) {
  return std::abs(value / reference - 1) > kSameCount;
}

bool has_other_sm_count(const PeakRow& row, const PeakDevice& device) {
  return row.sm_count && device.sm_count &&
         differs(static_cast<double>(*device.sm_count), static_cast<double>(*row.sm_count));
}

Peak peak_from(const PeakDevice& device, const std::string& precision, const char* source) {
  Peak peak;
  peak.precision = precision;
  peak.source = source;
  if (!device.name.empty()) peak.device = device.name;
  return peak;
}

Peak no_peak(const PeakDevice& device, const std::string& precision, const std::string& reason) {
  Peak peak = peak_from(device, precision, "none");
  peak.reason = reason;
  return peak;
}

Peak table_peak(const PeakRow& row, const PeakDevice& device, const std::string& precision) {
  const auto value = figure(row, matmul_key(row, precision));
  if (!value) return no_peak(device, precision, missing_precision_reason(row, device, precision));
  Peak peak = peak_from(device, precision, "table");
  peak.flop_per_s = value;
  if (!row.origin.empty()) peak.derivation = fmt::format("row \"{}\" of {}", row.name, row.origin);
  return peak;
}

Peak measured_peak(const MeasuredPeak& measured, const PeakDevice& device) {
  Peak peak = peak_from(device, measured.precision, "measured");
  peak.flop_per_s = measured.flop_per_s;
  peak.derivation = derivation_of(measured);
  return peak;
}

/// The table's peak, or why the table has none.
Peak peak_of_table(const PeakSources& sources, const PeakDevice& device, const std::string& precision) {
  const PeakRow* row = find_peak_row(sources.table, device.name);
  if (row == nullptr) {
    return no_peak(device, precision,
                   device.is_cpu ? unmeasured_cpu_reason(sources, device, precision)
                                 : unknown_device_reason(sources, device, precision));
  }
  if (has_other_sm_count(*row, device)) {
    return no_peak(device, precision, other_sm_count_reason(*row, device, precision));
  }
  return table_peak(*row, device, precision);
}

std::vector<PrecisionWork> without_empty(const std::vector<PrecisionWork>& work) {
  std::vector<PrecisionWork> parts;
  std::copy_if(work.begin(), work.end(), std::back_inserter(parts),
               [](const PrecisionWork& part) { return part.flop > 0; });
  return parts;
}

/// One share of an effective peak, in words.
std::string share_text(const PrecisionWork& part, double total_flop, const Peak& peak) {
  return fmt::format("{} {:.3g} % at {:.4g} TFLOP/s{}", part.precision, 100 * part.flop / total_flop,
                     *peak.flop_per_s * 1e-12, peak.derivation ? " (" + *peak.derivation + ")" : "");
}

}  // namespace

/// fp32 and fp64 matmuls use the matrix units where those take them (fp32: AMD CDNA; fp64: since A100), so
/// the higher of the two figures bounds them.
std::string matmul_key(const PeakRow& row, const std::string& precision) {
  const std::string matrix = precision + "_tensor";
  return figure(row, matrix) > figure(row, precision) ? matrix : precision;
}

Peak find_peak(const PeakSources& sources, const PeakDevice& device, const std::string& precision) {
  if (device.name.empty()) return no_peak(device, precision, nameless_reason());
  Peak peak = peak_of_table(sources, device, precision);
  if (peak.flop_per_s) return peak;
  const auto threads = device.is_cpu ? device.threads : std::nullopt;
  const MeasuredPeak* measured = find_measured_peak(sources.measured, device.name, threads, precision);
  return measured != nullptr ? measured_peak(*measured, device) : peak;
}

Peak effective_peak(const PeakSources& sources, const PeakDevice& device,
                    const std::vector<PrecisionWork>& work, const std::string& otherwise) {
  const std::vector<PrecisionWork> parts = without_empty(work);
  if (parts.empty()) return find_peak(sources, device, otherwise);
  if (parts.size() == 1) return find_peak(sources, device, parts.front().precision);
  double total_flop = 0, best_s = 0;
  for (const PrecisionWork& part : parts) total_flop += part.flop;
  Peak effective = peak_from(device, "", "");
  std::string shares;
  for (const PrecisionWork& part : parts) {
    Peak peak = find_peak(sources, device, part.precision);
    if (!peak.flop_per_s) return peak;
    best_s += part.flop / *peak.flop_per_s;
    effective.precision += (effective.precision.empty() ? "" : "+") + part.precision;
    effective.source = effective.source.empty() || peak.source == "measured" ? peak.source : effective.source;
    shares += (shares.empty() ? "" : ", ") + share_text(part, total_flop, peak);
  }
  effective.flop_per_s = total_flop / best_s;
  effective.derivation = "1 / sum(share / peak): " + shares;
  return effective;
}

Peak mean_rank_peak(const std::vector<Peak>& ranks) {
  Peak mean = ranks.front();
  double sum = 0;
  std::string devices;
  for (const Peak& rank : ranks) {
    if (!rank.flop_per_s) return rank;
    sum += *rank.flop_per_s;
    devices += (devices.empty() ? "" : " + ") + rank.device.value_or("device without a name");
    if (rank.source != mean.source) mean.source = "measured";
  }
  const bool alike = std::all_of(ranks.begin(), ranks.end(), [&](const Peak& rank) {
    return rank.device == ranks.front().device && rank.flop_per_s == ranks.front().flop_per_s;
  });
  if (alike) return mean;
  mean.flop_per_s = sum / static_cast<double>(ranks.size());
  mean.device = devices;
  mean.derivation = fmt::format("{:.4g} TFLOP/s in all, on {} ranks", sum * 1e-12, ranks.size());
  return mean;
}

Peak lookup_peak(const std::string& device_name, const std::string& precision) {
  PeakDevice device;
  device.name = device_name;
  return find_peak(PeakSources{}, device, precision);
}

std::string peak_precision(const std::string& configured) {
  return configured.substr(0, configured.find('-'));
}

Peak resolve_peak(std::optional<double> by_hand, const std::string& device_name,
                  const std::string& precision) {
  if (!by_hand) return lookup_peak(device_name, precision);
  PeakDevice device;
  device.name = device_name;
  Peak peak = peak_from(device, precision, "by_hand");
  peak.flop_per_s = by_hand;
  return peak;
}

std::optional<std::string> clock_disagreement(const PeakSources& sources, const PeakDevice& device) {
  const PeakRow* row = find_peak_row(sources.table, device.name);
  if (row == nullptr || !device.clock_hz || row->clock_hz.empty()) return std::nullopt;
  double assumed_hz = 0;
  for (const auto& [key, clock_hz] : row->clock_hz) assumed_hz = std::max(assumed_hz, clock_hz);
  if (!differs(*device.clock_hz, assumed_hz)) return std::nullopt;
  return fmt::format(
      "the peaks of \"{}\" assume up to {:.0f} MHz, and the driver of this one allows up to {:.0f} "
      "MHz: its real peak is {}; MFU is against the table",
      row->name, assumed_hz * 1e-6, *device.clock_hz * 1e-6,
      *device.clock_hz < assumed_hz ? "lower" : "higher");
}

}  // namespace flopmark
