#include "stats/student_t.h"

#include <cmath>
#include <numbers>

namespace flopmark {
namespace {

/// P(|T| <= t), exact for a whole number of degrees of freedom: Abramowitz and Stegun, 26.7.3 (odd), 26.7.4
/// (even).
double central_probability(double t, size_t degrees) {
  const bool odd = degrees % 2 == 1;
  const double theta = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(theta);
  double term = odd ? cosine : 1.0;
  double sum = degrees == 1 ? 0.0 : term;
  for (size_t k = odd ? 3 : 2; k < degrees; k += 2) {  // each term has two more powers of the cosine
    term *= cosine * cosine * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  return odd ? 2 / std::numbers::pi * (theta + std::sin(theta) * sum) : std::sin(theta) * sum;
}

}  // namespace

double student_t95(size_t degrees) {
  double low = 1.9, high = 13.0;  // the limits for infinitely many and for one degree of freedom lie inside
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (central_probability(middle, degrees) < 0.95 ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace flopmark
