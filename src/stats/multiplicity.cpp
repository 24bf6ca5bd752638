#include "stats/multiplicity.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace flopmark {
namespace {

/// Where a function that falls from 1 to 0 on [0, 1] passes `level`.
template <typename Falling>
double crossing(Falling falling, double level) {
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (falling(middle) > level ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

std::vector<double> holm_levels(const std::vector<double>& p_values, double alpha) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> levels(p_values.size(), 0.0);
  size_t left = order.size();
  for (const size_t at : order) {
    levels[at] = alpha / static_cast<double>(left);
    if (p_values[at] <= levels[at]) --left;  // once one is above, all later ones are: its level stays theirs
  }
  return levels;
}

double binomial_lower_tail(size_t count, size_t trials, double p) {
  if (p <= 0 || count >= trials) return 1;
  if (p >= 1) return 0;
  double sum = 0;
  for (size_t k = 0; k <= count; ++k) {
    const auto n = static_cast<double>(trials), x = static_cast<double>(k);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) + x * std::log(p) +
                    (n - x) * std::log1p(-p));
  }
  return std::min(sum, 1.0);
}

double binomial_upper_bound(size_t count, size_t trials, double level) {
  if (count >= trials) return 1;
  return crossing([&](double p) { return binomial_lower_tail(count, trials, p); }, level);
}

double binomial_lower_bound(size_t count, size_t trials, double level) {
  if (count == 0) return 0;
  return 1 - binomial_upper_bound(trials - count, trials, level);
}

}  // namespace flopmark
