#pragma once

#include <cstddef>
#include <vector>

namespace flopmark {

/// The level that Holm's step-down procedure compares each p-value with at family-wise level `alpha` (Holm,
/// 1979): the smallest with alpha / m, the next with alpha / (m - 1), until one is above its level; what is
/// left then shares that one's. A hypothesis is rejected where its p-value is at or below its level.
std::vector<double> holm_levels(const std::vector<double>& p_values, double alpha);

/// P(X <= count) of a binomial variable: `trials` independent trials of probability `p` in [0, 1].
double binomial_lower_tail(size_t count, size_t trials, double p);

/// The largest probability that `count` successes in `trials` do not contradict at `level` (Clopper and
/// Pearson, 1934, one-sided); 1 if all succeeded.
double binomial_upper_bound(size_t count, size_t trials, double level);
/// The smallest such probability; 0 if none succeeded.
double binomial_lower_bound(size_t count, size_t trials, double level);

}  // namespace flopmark
