#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compare/paired_judge.h"

namespace flopmark {

/// A change with its limits, each one-sided at the level of the bisection: b / a - 1.
struct ChangeRange {
  double change_ratio = 0;                      ///< Hodges-Lehmann
  std::optional<double> low_ratio, high_ratio;  ///< absent with too few pairs
};

/// Of pairs (not empty), by one summary.
ChangeRange change_range(const std::vector<PairRatios>& pairs, Summary summary, double level);

/// The slowdown that is looked for, by the one summary that shows it best.
struct Regression {
  Summary gate = Summary::throughput;
  ChangeRange change;  ///< from good to bad

  double mid_ratio() const;  ///< what tells good from bad commits: half of it, in logarithms
  bool is_clear() const;     ///< bad itself is surely beyond that
};

/// By the summary with the largest change for its scatter, of those that are surely slower than
/// `least_ratio`; absent if none is.
std::optional<Regression> regression_of(const std::vector<PairRatios>& pairs,
                                        const PairedJudgement& judgement, double least_ratio, double level);

/// Whether a commit with `change` (against good) is surely slower than good and surely faster than bad, by at
/// least `least_ratio` each: then there is more than one step.
bool is_intermediate(const ChangeRange& change, const Regression& regression, double least_ratio);

/// The summary that decides and sees the smallest changes.
Summary sharpest_gate(const PairedJudgement& judgement);

/// The smallest regression that as many pairs with this scatter can trace with 90 %: shown to be more than
/// `least_ratio`, and half of it told from nothing. By the sharpest gate.
double smallest_traceable(const PairedJudgement& judgement, double least_ratio);

}  // namespace flopmark
