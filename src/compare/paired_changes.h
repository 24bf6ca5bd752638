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

}  // namespace flopmark
