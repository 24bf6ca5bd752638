#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flopmark/record.h"
#include "hardware/cpu_estimate.h"
#include "hardware/measured_peak.h"
#include "hardware/peak_table.h"

namespace flopmark {

/// Where a peak may come from besides peak.flop_per_s: first the table, then what was measured on this
/// device.
struct PeakSources {
  PeakTable table = peak_table();
  std::vector<MeasuredPeak> measured;
  std::optional<CpuFacts> cpu;  ///< of this machine; for the estimate shown where a CPU has no measured peak
};

/// A device whose peak is asked for. What is not known is absent.
struct PeakDevice {
  std::string name;                      ///< exact, as the driver reports it
  bool is_cpu = false;                   ///< its peak is then measured, never looked up by instruction set
  std::optional<int64_t> threads = {};   ///< of a CPU run
  std::optional<int64_t> sm_count = {};  ///< as the driver counts them
  std::optional<double> clock_hz = {};   ///< the highest SM clock the driver allows
};

/// FLOPs of a step in one number type, or any share of them.
struct PrecisionWork {
  std::string precision;
  double flop = 0;
};

/// The dense peak of exactly this device at this precision (a key of the table), matched on the whole device
/// name, case and all; fp32 and fp64 are those of the matrix units where these are faster. Unknown device or
/// precision, a MIG slice, an SM count more than 1 % off the row: no value, and `reason` says what is known
/// and how to give a peak. A CPU's is the one measured with the same thread count.
Peak find_peak(const PeakSources& sources, const PeakDevice& device, const std::string& precision);

/// The key of the row's figures that bounds matmuls of `precision`: fp32_tensor for fp32 where that is
/// higher.
std::string matmul_key(const PeakRow& row, const std::string& precision);

/// The peak of work in several precisions: sum(flop) / sum(flop / peak), so that MFU is 1 when every part
/// runs at its own peak. Precisions without FLOPs do not count; with none at all `otherwise` is looked up.
/// Absent, with the reason, if one of them has no peak.
Peak effective_peak(const PeakSources& sources, const PeakDevice& device,
                    const std::vector<PrecisionWork>& work, const std::string& otherwise);

/// The peak of one rank of a job, on average, where ranks sit on different devices: MFU = FLOPs of all /
/// (time x sum of peaks) = FLOPs of one / (time x mean of peaks). Absent if one rank's is; not for an empty
/// list.
Peak mean_rank_peak(const std::vector<Peak>& ranks);

/// The built-in table alone.
Peak lookup_peak(const std::string& device_name, const std::string& precision);

/// The precision whose peak bounds the matmuls of a configured one: that of bf16-mixed is bf16.
std::string peak_precision(const std::string& configured);

/// `by_hand` if given (FLOP/s per device, source by_hand), else the built-in table's; a CPU has none there.
Peak resolve_peak(std::optional<double> by_hand, const std::string& device_name,
                  const std::string& precision);

/// What the driver's clock says against the device's row: set if the highest clock a peak of the row assumes
/// is more than 1 % off the highest the device allows.
std::optional<std::string> clock_disagreement(const PeakSources& sources, const PeakDevice& device);

}  // namespace flopmark
