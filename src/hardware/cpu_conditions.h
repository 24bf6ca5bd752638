#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hardware/kernel_files.h"

namespace flopmark {

/// CPU time since boot, summed over some CPUs, seconds (to the kernel's tick, mostly 10 ms).
struct CpuTimes {
  double busy_s = 0;   ///< user, nice, system, interrupts: of all processes
  double steal_s = 0;  ///< the hypervisor ran something else
  double total_s = 0;  ///< busy, steal, idle and waiting for a disk
};

/// From /proc/stat (proc(5)), of `cpus`; absent unless each of them has its line.
std::optional<CpuTimes> cpu_times_of(std::string_view proc_stat, const std::vector<int>& cpus,
                                     double ticks_per_s);

/// Seconds the thread was ready to run and had no CPU: the second number of /proc/<pid>/schedstat
/// (Documentation/scheduler/sched-stats.rst), which is in nanoseconds.
std::optional<double> run_queue_wait_of(std::string_view schedstat);

/// Counters of CPUs and of this process at one instant; two of them make a condition.
struct CpuReading {
  double time_s = 0;                            ///< monotonic clock
  std::optional<CpuTimes> cpus = std::nullopt;  ///< of the CPUs this process may use
  std::optional<double> wait_s = std::nullopt;  ///< of the process's main thread
  std::optional<double> own_s = std::nullopt;   ///< CPU time of all threads of this process
  // Of all threads of this process.
  std::optional<int64_t> involuntary_switches = std::nullopt;
  std::optional<int64_t> major_faults = std::nullopt, minor_faults = std::nullopt;
};

/// `reading` with every counter moved on by what it rose from `from` to `to`: as a first reading it leaves
/// out what happened in between.
CpuReading moved_on(const CpuReading& reading, const CpuReading& from, const CpuReading& to);

/// Takes CpuReadings, always of the same CPUs.
class CpuCounters {
 public:
  explicit CpuCounters(KernelFiles files = {}, std::vector<int> cpus = usable_cpus());
  CpuReading read() const;

 private:
  KernelFiles files_;
  std::vector<int> cpus_;
};

/// The CPUs' clock, held open so that a reading is cheap and allocates nothing: of at most 16 CPUs, spread
/// over `cpus`.
class CpuClock {
 public:
  explicit CpuClock(const KernelFiles& files = {}, const std::vector<int>& cpus = usable_cpus());
  ~CpuClock();
  CpuClock(const CpuClock&) = delete;
  CpuClock& operator=(const CpuClock&) = delete;
  /// Mean of cpufreq's scaling_cur_freq; absent where there is no cpufreq (most virtual machines).
  std::optional<double> read_hz() const;

 private:
  std::vector<int> descriptors_;
};

/// Shares of the time between two readings.
struct CpuShares {
  std::optional<double> steal_ratio;   ///< of all time of the usable CPUs
  std::optional<double> others_ratio;  ///< the same; never below 0
  std::optional<double> wait_ratio;    ///< of the wall clock
};
CpuShares cpu_shares(const CpuReading& before, const CpuReading& after);

}  // namespace flopmark
