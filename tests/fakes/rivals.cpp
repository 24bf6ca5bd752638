#include "fakes/rivals.h"

#include <algorithm>
#include <cmath>

#include "stats/normal.h"
#include "stats/quantile.h"
#include "stats/rank_sum.h"
#include "stats/spread.h"

namespace flopmark::testing {
namespace {

std::vector<double> pooled(const Launches& launches_s) {
  std::vector<double> steps_s;
  for (const auto& launch_s : launches_s) steps_s.insert(steps_s.end(), launch_s.begin(), launch_s.end());
  return steps_s;
}

std::vector<double> medians(const Launches& launches_s) {
  std::vector<double> values;
  for (const auto& launch_s : launches_s) values.push_back(median(launch_s));
  return values;
}

/// Number of (old, new) pairs in which the new one is smaller.
double u_of(std::vector<double> old_s, const std::vector<double>& new_s) {
  std::sort(old_s.begin(), old_s.end());
  double u = 0;
  for (const double value : new_s) {
    u += static_cast<double>(old_s.end() - std::upper_bound(old_s.begin(), old_s.end(), value));
  }
  return u;
}

bool pooled_rank_sum(const Launches& old_s, const Launches& new_s, Random&) {
  const std::vector<double> a = pooled(old_s), b = pooled(new_s);
  const auto m = static_cast<double>(a.size()), n = static_cast<double>(b.size());
  const double z = (u_of(a, b) - m * n / 2) / std::sqrt(m * n * (m + n + 1) / 12);
  return normal_cdf(z) < 0.025;
}

bool launch_rank_sum(const Launches& old_s, const Launches& new_s, Random&) {
  const std::vector<double> a = medians(old_s), b = medians(new_s);
  static const std::vector<double> kCumulative = rank_sum_cumulative(10, 10);
  return kCumulative[static_cast<size_t>(u_of(a, b))] <= 0.025;
}

bool mean_beyond(const Launches& old_s, const Launches& new_s, Random&) {
  return mean(pooled(new_s)) > 1.05 * mean(pooled(old_s));
}

bool bootstrap(const Launches& old_s, const Launches& new_s, Random& random) {
  const std::vector<double> a = pooled(old_s), b = pooled(new_s);
  const auto drawn_mean = [&](const std::vector<double>& from) {
    double sum = 0;
    for (size_t i = 0; i < from.size(); ++i) sum += from[random.index(from.size())];
    return sum / static_cast<double>(from.size());
  };
  std::vector<double> changes;
  for (int i = 0; i < 100; ++i) changes.push_back(drawn_mean(b) / drawn_mean(a) - 1);
  return quantile(changes, 0.025) > 0 && mean(b) / mean(a) > 1.01;
}

bool smaller_noise(const Launches& old_s, const Launches& new_s, Random&) {
  const std::vector<double> a = pooled(old_s), b = pooled(new_s);
  const double noise = std::min(standard_deviation(a) / mean(a), standard_deviation(b) / mean(b));
  return mean(b) / mean(a) - 1 > noise;
}

}  // namespace

const std::vector<Rival>& rivals() {
  static const std::vector<Rival> kRivals{{"Mann-Whitney, pooled steps", pooled_rank_sum},
                                          {"Mann-Whitney, launch medians", launch_rank_sum},
                                          {"mean beyond 5 %", mean_beyond},
                                          {"bootstrap of the mean, 1 %", bootstrap},
                                          {"beyond the smaller noise", smaller_noise}};
  return kRivals;
}

}  // namespace flopmark::testing
