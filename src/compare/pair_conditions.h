#pragma once

#include <optional>
#include <string>

#include "hardware/cpu_conditions.h"

namespace flopmark {

/// What else the machine did while a pair was measured, seen from outside both workers. Unknown is absent.
struct PairConditions {
  double duration_s = 0;
  std::optional<double> others_cpu_ratio;  ///< of the usable CPUs' time: neither we nor our workers
  std::optional<double> steal_ratio;       ///< the same: taken by the hypervisor
};

/// The only causes for measuring a pair again, set before anything is measured and none of them a step time:
/// others used more than this share of the CPUs, or the hypervisor took more than that. (What a device says
/// of itself, such as throttling, is no cause: a side can bring it about, and would then be measured until it
/// does not.)
inline constexpr double kMostOthersRatio = 0.25;
inline constexpr double kMostStealRatio = 0.10;

/// From counters around a pair; `own_s` of them is the CPU time of this process and of children that ended.
PairConditions pair_conditions(const CpuReading& before, const CpuReading& after);

/// Which cause holds, in words; absent if none.
std::optional<std::string> disturbance(const PairConditions& conditions);

}  // namespace flopmark
