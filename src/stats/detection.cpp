#include "stats/detection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "stats/normal.h"
#include "stats/signed_rank.h"

namespace flopmark {
namespace {

/// P(X1 + X2 > 0 and X1 + X3 > 0) for independent normal variables of mean `shift` and standard deviation 1,
/// by the trapezoidal rule over X1.
double both_sums_positive(double shift) {
  constexpr double kReach = 8, kStep = 0.05;
  double sum = 0;
  for (double z = -kReach; z <= kReach; z += kStep) {
    const double other_above = normal_cdf(z + 2 * shift);
    sum += std::exp(-z * z / 2) * other_above * other_above;
  }
  return sum * kStep / std::sqrt(2 * std::numbers::pi);
}

/// P(W >= w) of `pairs` normal pairs of mean `shift` in standard deviations.
double power_at(double shift, size_t pairs, double w) {
  const auto n = static_cast<double>(pairs);
  const double above = normal_cdf(shift), sum_above = normal_cdf(std::numbers::sqrt2 * shift);
  const double one_and_sum = (above * above + sum_above) / 2;  // P(X1 > 0 and X1 + X2 > 0)
  const double mean = n * above + n * (n - 1) / 2 * sum_above;
  const double variance = n * above * (1 - above) + n * (n - 1) / 2 * sum_above * (1 - sum_above) +
                          2 * n * (n - 1) * (one_and_sum - above * sum_above) +
                          n * (n - 1) * (n - 2) * (both_sums_positive(shift) - sum_above * sum_above);
  return 1 - normal_cdf((w - 0.5 - mean) / std::sqrt(std::max(variance, 1e-12)));
}

}  // namespace

double detection_factor(size_t pairs, double level, double power) {
  const auto critical = signed_rank(pairs).critical(level);
  if (!critical) return std::numeric_limits<double>::infinity();
  const size_t smallest_rejecting = pairs * (pairs + 1) / 2 - *critical;
  const auto w = static_cast<double>(smallest_rejecting);
  double low = 0, high = 10;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (power_at(middle, pairs, w) < power ? low : high) = middle;
  }
  return high;
}

double asymptotic_detection_factor(size_t pairs, double level, double power) {
  const double distance = normal_quantile(1 - level) + normal_quantile(power);
  return distance * std::sqrt(std::numbers::pi / (3 * static_cast<double>(pairs)));
}

double pairs_to_detect(double effect, double sigma, double level, double power) {
  const double ratio = asymptotic_detection_factor(1, level, power) * sigma / effect;
  return std::max(1.0, std::ceil(ratio * ratio));
}

}  // namespace flopmark
