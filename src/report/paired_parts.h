#pragma once

#include <string>
#include <vector>

#include "compare/paired_comparison.h"
#include "report/grid.h"

namespace flopmark {

/// Step time by each summary: both sides (median of the launches), change, its 95 % interval, the smallest
/// change that would have been found, and its part in the verdict.
Grid paired_summary_grid(const PairedComparison& comparison);
/// Metrics both or one side have, and the numbers that equal work has equal.
Grid paired_metric_grid(const PairedComparison& comparison);
/// Phases that changed; only a heading if none did.
Grid paired_phase_grid(const PairedComparison& comparison);
/// Operators that changed, the largest change of FLOPs first, at most 10; only a heading if none did.
Grid paired_operator_grid(const PairedComparison& comparison);

/// What was measured on one side: "v1.0 (0230d94c2b), built; --set model.layers=3; OMP_NUM_THREADS=1".
std::string paired_side_text(const PairedSide& side);
/// "12 pairs of 17 turns each, side by side", with how many were asked for at most.
std::string paired_extent_text(const PairedComparison& comparison);
/// "environment.threads: 1 -> 2 (allowed)".
std::string paired_difference_text(const EnvironmentDifference& difference);

}  // namespace flopmark
