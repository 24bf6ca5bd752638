#include "compare/pair_conditions.h"

#include <fmt/format.h>

namespace flopmark {

PairConditions pair_conditions(const CpuReading& before, const CpuReading& after) {
  const CpuShares shares = cpu_shares(before, after);
  return {after.time_s - before.time_s, shares.others_ratio, shares.steal_ratio};
}

std::optional<std::string> disturbance(const PairConditions& conditions) {
  if (conditions.others_cpu_ratio.value_or(0) > kMostOthersRatio) {
    return fmt::format("other processes used {:.0f} % of the CPUs", *conditions.others_cpu_ratio * 100);
  }
  if (conditions.steal_ratio.value_or(0) > kMostStealRatio) {
    return fmt::format("the hypervisor took {:.0f} % of the CPUs", *conditions.steal_ratio * 100);
  }
  return std::nullopt;
}

}  // namespace flopmark
