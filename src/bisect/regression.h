#pragma once

#include <optional>
#include <vector>

#include "compare/paired_judge.h"

namespace flopmark {

/// A change with its limits, each one-sided at the level of the bisection: b / a - 1.
struct ChangeRange {
  double change_ratio = 0;
  std::optional<double> low_ratio, high_ratio;  ///< absent with too few pairs
};

/// The slowdown that is looked for, by the one summary that shows it best.
struct Regression {
  Summary gate = Summary::throughput;
  ChangeRange change;  ///< from good to bad

  double mid_ratio() const;  ///< what tells good from bad commits: half of it, in logarithms
};

}  // namespace flopmark
