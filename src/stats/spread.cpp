#include "stats/spread.h"

#include <algorithm>
#include <cmath>

#include "stats/quantile.h"

namespace flopmark {
namespace {

constexpr double kNormalMad = 1.4826;  // 1 / the normal distribution's third quartile

}  // namespace

double mad_sigma(const std::vector<double>& values) {
  const double center = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - center));
  return kNormalMad * median(std::move(deviations));
}

double standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double center = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double autocorrelation(const std::vector<double>& series, size_t lag) {
  if (series.size() <= lag) return 0;
  const double center = mean(series);
  double products = 0, squares = 0;
  for (size_t i = 0; i < series.size(); ++i) {
    const double deviation = series[i] - center;
    squares += deviation * deviation;
    if (i + lag < series.size()) products += deviation * (series[i + lag] - center);
  }
  return squares > 0 ? products / squares : 0;
}

double correlation_time(const std::vector<double>& series) {
  double tau = -1;  // the pair of lags 0 and 1 adds 2 (1 + rho_1)
  for (size_t lag = 0; lag + 1 < series.size(); lag += 2) {
    const double pair = autocorrelation(series, lag) + autocorrelation(series, lag + 1);
    if (!(pair > 0)) break;
    tau += 2 * pair;
  }
  return std::max(tau, 1.0);
}

}  // namespace flopmark
