#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace flopmark {

/// Least, median and most of a quantity sampled while steps were timed; the unit is the key's. Of several
/// launches: the least, the median of the medians, the most.
struct SampledRange {
  double min = 0, median = 0, max = 0;
};

/// What the machine did while steps were timed: of one launch, or of all of a run. Unknown is absent. On a
/// MIG instance clocks, power and temperature are those of the whole board, and energy is unknown.
struct Conditions {
  int64_t samples = 0;               ///< readings taken
  std::optional<double> duration_s;  ///< from the first reading to the last
  std::optional<SampledRange> device_clock_hz, device_memory_clock_hz, device_power_w, device_temperature_c;
  std::optional<SampledRange> cpu_clock_hz;  ///< mean over the CPUs this process may use
  /// Share of the samples in which the device gave this reason for its clock (names: hardware/nvml.h); a
  /// reason that never showed is left out.
  std::optional<std::map<std::string, double>> throttle_ratio;
  std::optional<double> device_energy_j;       ///< the board's own counter, over the duration
  std::optional<int64_t> other_processes;      ///< on the device, the most at one time
  std::optional<double> others_device_ratio;   ///< time in which others' kernels ran, mean of the samples
  std::optional<double> steal_ratio;           ///< of the usable CPUs' time: taken by the hypervisor
  std::optional<double> others_cpu_ratio;      ///< the same: used by other processes and the kernel
  std::optional<double> run_queue_wait_ratio;  ///< of the duration: the timed thread ready, but with no CPU
  std::optional<double> involuntary_switches_per_step;  ///< all threads of the process
  std::optional<double> major_faults_per_step, minor_faults_per_step;
};

}  // namespace flopmark
