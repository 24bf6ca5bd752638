#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopmark/flop_totals.h"
#include "measure/samples.h"

namespace flopmark {

/// One phase of the step on both sides: medians of the launches' means, and how it moved from a to b within
/// the pairs. Seconds per step.
struct PhaseChange {
  std::string name;  ///< data, transfer, forward, backward, communication, optimizer, other
  double a_s = 0, b_s = 0;
  double change_s = 0;                            ///< Hodges-Lehmann over the pairs
  std::optional<double> ci95_low_s, ci95_high_s;  ///< absent with too few pairs
  double step_share_ratio = 0;                    ///< change_s of the median step of a
  bool changed = false;  ///< the interval leaves 0 out, and it is at least 0.5 % of the step
};

/// Phases that took any time, in the order of a step. `a` and `b` as long, not empty, all with timed steps.
std::vector<PhaseChange> phase_changes(const std::vector<LaunchSamples>& a,
                                       const std::vector<LaunchSamples>& b);

/// An operator that is not called as often, or does not do as many FLOPs, on both sides.
struct OperatorChange {
  std::string name;
  int64_t calls_a = 0, calls_b = 0;
  int64_t hardware_flop_a = 0, hardware_flop_b = 0;
};

/// By name; operators without a rule have calls only.
std::vector<OperatorChange> operator_changes(const FlopTotals& a, const FlopTotals& b);

/// How far the loader kept up on both sides: share of the steps' time spent waiting for data, and batches
/// ready when a turn began, a median over all turns.
struct LoaderQueue {
  double wait_ratio_a = 0, wait_ratio_b = 0;
  double depth_a = 0, depth_b = 0;
};

/// Absent unless one side is data-bound: it waits for at least 5 % of its time, and mostly finds at most one
/// batch ready. Also absent where a side has no turns or no loader workers.
std::optional<LoaderQueue> loader_queue(const std::vector<LaunchSamples>& a,
                                        const std::vector<LaunchSamples>& b);

}  // namespace flopmark
