#pragma once

#include <cstddef>
#include <vector>

namespace flopmark {

/// 1.4826 times the median absolute deviation from the median: the standard deviation of a normal sample,
/// untouched by outliers. `values` not empty.
double mad_sigma(const std::vector<double>& values);

/// Standard deviation with n - 1 in the denominator; 0 for fewer than two values.
double standard_deviation(const std::vector<double>& values);

/// Autocorrelation of a series at `lag`; 0 where the series is constant or not longer than the lag.
double autocorrelation(const std::vector<double>& series, size_t lag);

/// How many steps of a correlated series say as much as one independent step: 1 + 2 (sum of
/// autocorrelations), summed over pairs of lags for as long as a pair is positive (Geyer, 1992: initial
/// positive sequence); at least 1.
double correlation_time(const std::vector<double>& series);

}  // namespace flopmark
