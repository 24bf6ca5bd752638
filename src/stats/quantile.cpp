#include "stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "stats/student_t.h"

namespace flopmark {

double quantile(std::vector<double> values, double q) {
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(position);
  std::nth_element(values.begin(), below, values.end());
  const double fraction = position - std::floor(position);
  if (fraction == 0) {
    return *below;
  }
  const double above = *std::min_element(below + 1, values.end());
  return *below + fraction * (above - *below);
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<std::pair<double, double>> mean_interval95(const std::vector<double>& values) {
  if (values.size() < 2) {
    return std::nullopt;
  }
  const double center = mean(values);
  double squares = 0;
  for (const double value : values) {
    squares += (value - center) * (value - center);
  }
  const auto count = static_cast<double>(values.size());
  const double error = std::sqrt(squares / (count - 1) / count);
  const double half_width = student_t95(values.size() - 1) * error;
  return std::pair{center - half_width, center + half_width};
}

}  // namespace flopmark
