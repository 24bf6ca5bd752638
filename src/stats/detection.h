#pragma once

#include <cstddef>

namespace flopmark {

/// c(n): the location, in standard deviations of one pair, that the exact signed-rank test of `pairs` at
/// one-sided `level` finds with probability `power`, for normal pairs. From the mean and variance of the
/// statistic under a shift (Lehmann, Nonparametrics, 1975, 4.2), itself taken as normal; infinite where the
/// test cannot reach the level. Optimistic under heavy tails: resample to know.
double detection_factor(size_t pairs, double level, double power);

/// The same for many pairs, in closed form: (z_level + z_power) sqrt(pi / (3 n)), pi / 3 being the inverse
/// efficiency of the test.
double asymptotic_detection_factor(size_t pairs, double level, double power);

/// About how many pairs of standard deviation `sigma` find an effect of `effect` > 0, by the closed form. At
/// least 1.
double pairs_to_detect(double effect, double sigma, double level, double power);

}  // namespace flopmark
