#pragma once

namespace flopmark {

/// P(Z <= z) of the standard normal distribution.
double normal_cdf(double z);
/// The z with P(Z <= z) = p, 0 < p < 1. Accurate to 1e-9.
double normal_quantile(double p);

/// The x that a chi-square variable of `degrees` >= 1 degrees of freedom stays below with probability p:
/// Wilson and Hilferty, 1931; within 0.2 % for ten degrees and more.
double chi_square_quantile(double p, double degrees);

}  // namespace flopmark
