#include "compare/stored_tolerance.h"

#include <algorithm>
#include <cmath>

#include "stats/quantile.h"
#include "stats/spread.h"

namespace flopmark {
namespace {

constexpr double kSpreads = 3;
constexpr double kUncalibratedRatio = 0.25;
constexpr double kSameRatio = 0.10;

/// The launches of both records, each about its own median.
std::vector<double> centered(const ToleranceInputs& inputs) {
  std::vector<double> deviations;
  for (const std::vector<double>* launches : {&inputs.launches_a, &inputs.launches_b}) {
    const double center = median(*launches);
    for (const double value : *launches) deviations.push_back(value - center);
  }
  return deviations;
}

double largest_size(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

}  // namespace

StoredTolerance stored_tolerance(const ToleranceInputs& inputs) {
  StoredTolerance tolerance;
  tolerance.calibrated = !inputs.sittings.empty();
  if (tolerance.calibrated) {
    tolerance.slower = std::max(kSpreads * mad_sigma(inputs.sittings), largest_size(inputs.sittings));
  } else {
    tolerance.slower = std::max(std::log1p(kUncalibratedRatio), kSpreads * mad_sigma(centered(inputs)));
  }
  if (inputs.environment_differs) {
    tolerance.slower = std::max(tolerance.slower, std::log1p(kUncalibratedRatio));
  }
  const double ruler = std::log1p(inputs.ruler_ratio.value_or(0));
  tolerance.same = std::min(tolerance.slower, std::log1p(kSameRatio)) + std::min(ruler, 0.0);
  tolerance.slower += std::abs(ruler);
  return tolerance;
}

}  // namespace flopmark
