#include "stats/rank_sum.h"

#include <algorithm>

#include "stats/quantile.h"

namespace flopmark {
namespace {

std::vector<double> differences_of(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> differences;
  differences.reserve(a.size() * b.size());
  for (const double first : a) {
    for (const double second : b) differences.push_back(second - first);
  }
  return differences;
}

}  // namespace

std::vector<double> rank_sum_cumulative(size_t m, size_t n) {
  // ways[i][u]: share of the orders of i values of one sample and j of the other with U = u; the largest of
  // all is of the first sample (then it is above all j) with probability i / (i + j), else of the second.
  std::vector<std::vector<double>> share(m + 1, std::vector<double>{1.0});
  for (size_t j = 1; j <= n; ++j) {
    share[0] = {1.0};
    for (size_t i = 1; i <= m; ++i) {
      std::vector<double> next(i * j + 1, 0.0);
      const double first = static_cast<double>(i) / static_cast<double>(i + j);
      for (size_t u = 0; u < share[i - 1].size(); ++u) next[u + j] += first * share[i - 1][u];
      for (size_t u = 0; u < share[i].size(); ++u) next[u] += (1 - first) * share[i][u];
      share[i] = std::move(next);
    }
  }
  std::vector<double> cumulative = share[m];
  for (size_t u = 1; u < cumulative.size(); ++u) cumulative[u] += cumulative[u - 1];
  return cumulative;
}

double shift_estimate(const std::vector<double>& a, const std::vector<double>& b) {
  return median(differences_of(a, b));
}

std::optional<std::pair<double, double>> shift_interval(const std::vector<double>& a,
                                                        const std::vector<double>& b, double level) {
  const std::vector<double> cumulative = rank_sum_cumulative(a.size(), b.size());
  const auto above = std::upper_bound(cumulative.begin(), cumulative.end(), level);
  if (above == cumulative.begin()) return std::nullopt;
  const auto critical = static_cast<size_t>(above - cumulative.begin()) - 1;
  std::vector<double> differences = differences_of(a, b);
  std::sort(differences.begin(), differences.end());
  return std::pair{differences[critical], differences[differences.size() - 1 - critical]};
}

}  // namespace flopmark
