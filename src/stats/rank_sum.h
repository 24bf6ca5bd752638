#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace flopmark {

/// Exact null distribution of the Mann-Whitney statistic U of samples of m and n: P(U <= u) for u = 0 .. m n.
std::vector<double> rank_sum_cumulative(size_t m, size_t n);

/// How much larger `b` is than `a` (two independent samples, not empty): the median of all b_j - a_i (Hodges
/// and Lehmann, 1963).
double shift_estimate(const std::vector<double>& a, const std::vector<double>& b);

/// Two-sided interval of that shift at 1 - 2 level, by inverting the exact Mann-Whitney test (Hollander and
/// Wolfe, 4.3); absent where the samples are too small for the level.
std::optional<std::pair<double, double>> shift_interval(const std::vector<double>& a,
                                                        const std::vector<double>& b, double level);

}  // namespace flopmark
