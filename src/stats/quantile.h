#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace flopmark {

/// Linear-interpolation quantile (Hyndman and Fan, type 7), q in [0, 1]. `values` need not be sorted; not
/// empty.
double quantile(std::vector<double> values, double q);
double median(std::vector<double> values);
/// Arithmetic mean; `values` not empty.
double mean(const std::vector<double>& values);

/// Student's t interval (low, high) of the mean at 95 %; absent with fewer than two values.
std::optional<std::pair<double, double>> mean_interval95(const std::vector<double>& values);

}  // namespace flopmark
