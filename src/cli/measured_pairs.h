#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compare/paired_comparison.h"

namespace flopmark {

/// Seconds of a clock that never goes back, and stands still while this process waits for its turn at the
/// machine (machine_turn.h): what a budget is counted by.
double monotonic_s();

/// How pairs of real workers are measured.
struct PairMeasuring {
  std::optional<double> budget_s = {};
  DifferenceOptions differences = {};
  std::function<bool()> interrupted = {};
  std::function<void(const PairedProgress&)> pair_begins = {};
};

/// Measures pairs for all `comparisons` (not empty, with the seed of the first) until they are settled; fills
/// in their results.
void measure_pairs(std::vector<PairedComparison>& comparisons, const PairMeasuring& measuring);

}  // namespace flopmark
