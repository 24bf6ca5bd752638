#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "flopmark/conditions.h"
#include "hardware/cpu_conditions.h"
#include "hardware/nvml.h"
#include "measure/samples.h"

namespace flopmark {

/// What others do on a device at one instant.
struct OtherUse {
  int64_t processes = 0;
  std::optional<double> busy_ratio;  ///< sum over them; absent where NVML does not tell whose kernels run
};

/// Of `processes`, those that are not `own_pid`. Where that one is not among them (in a container NVML may
/// show the host's numbers), one of them is taken to be this process; which one, and so the busy time of the
/// others, is then unknown.
OtherUse other_use_of(std::span<const NvmlProcess> processes, int64_t own_pid);

/// One look at the machine.
struct ConditionSample {
  NvmlReading device;  ///< all absent on a CPU
  std::optional<double> cpu_clock_hz;
  std::optional<OtherUse> others;  ///< not in every sample: listing processes is slow
};

/// Where conditions are read from. `device` is null on a CPU and where there is no NVML; not owned.
struct ConditionSources {
  NvmlDevice* device = nullptr;
  KernelFiles files = {};
  std::vector<int> cpus = usable_cpus();
  int64_t own_pid = 0;
  bool turns = false;  ///< another process of ours uses the device in turn: others are not told from it, nor
                       ///< its energy from ours
};

/// Collects samples and makes Conditions of them. Used by one thread at a time.
class ConditionLog {
 public:
  explicit ConditionLog(const ConditionSources& sources);
  /// Forgets all samples, reads the counters and takes a first sample. Makes room for kMostSamples.
  void begin();
  /// Takes one sample. Allocates nothing. Where the room is full, every other sample is dropped first.
  /// @returns whether that happened: the caller then samples half as often.
  bool take();
  /// Between the two the counters stand still. Begins anew with begin().
  void pause();
  void resume();
  /// Takes the last sample and sums up. `steps` were done since begin(); at least 1 for the figures per step.
  Conditions end(int64_t steps);

  static constexpr size_t kMostSamples = 4096;

 private:
  ConditionSample sample(bool with_processes);

  ConditionSources sources_;
  CpuCounters counters_;
  CpuClock clock_;
  CpuReading first_, paused_;
  bool is_paused_ = false;
  std::vector<ConditionSample> samples_;
  int64_t taken_ = 0;
};

/// Conditions from samples in order of time (energy is that from the first to the last) and the counters
/// around them.
Conditions summarize_conditions(const std::vector<ConditionSample>& samples, const CpuReading& first,
                                const CpuReading& last, int64_t steps);

/// Of all launches that have some: least of the least, median of the medians, most of the most; shares
/// weighted by samples or time, figures per step by steps; energy and time added up, energy only if each
/// launch has it. Absent if no launch has any.
std::optional<Conditions> merge_conditions(const std::vector<LaunchSamples>& launches);

}  // namespace flopmark
