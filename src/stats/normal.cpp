#include "stats/normal.h"

#include <cmath>
#include <numbers>

namespace flopmark {

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

double normal_quantile(double p) {
  double low = -39, high = 39;  // erfc reaches the smallest double there
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (normal_cdf(middle) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

double chi_square_quantile(double p, double degrees) {
  const double spread = 2 / (9 * degrees);
  return degrees * std::pow(1 - spread + normal_quantile(p) * std::sqrt(spread), 3);
}

}  // namespace flopmark
