#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace flopmark {

/// Exact null distribution of Wilcoxon's signed-rank statistic W: the sum of those of the ranks 1..n whose
/// sign, a fair coin each, is plus. (Wilcoxon, 1945; Hollander and Wolfe, Nonparametric Statistical Methods,
/// 3.1.) The distribution is symmetric about n (n + 1) / 4.
class SignedRank {
 public:
  /// `pairs` up to a few hundred: time and memory grow with its cube and square.
  explicit SignedRank(size_t pairs);

  /// P(W <= w).
  double lower_tail(size_t w) const;
  /// The largest w with P(W <= w) <= level; absent where even w = 0 is more likely (level < 2^-n).
  std::optional<size_t> critical(double level) const;

 private:
  std::vector<double> cumulative_;  // P(W <= w) for w = 0 .. n (n + 1) / 2
};

/// The distribution for `pairs`, worked out once per process and number of pairs. Safe from any thread.
const SignedRank& signed_rank(size_t pairs);

/// Location of a sample that is symmetric about it, by pairwise means (Walsh averages) d_i + d_j over 2, i <=
/// j: the estimate is their median (Hodges and Lehmann, 1963), the limits invert the exact signed-rank test,
/// the p-value is that test's. Zeros stay in the sample and ties are never broken in favour of a shift, so
/// that errors with tied data are rarer than the level, not more frequent.
class WalshAverages {
 public:
  /// `values` finite and not empty.
  explicit WalshAverages(const std::vector<double>& values);

  double estimate() const;
  /// One-sided confidence limits at 1 - level; absent where the sample is too small for the level.
  std::optional<double> lower_limit(double level) const;
  std::optional<double> upper_limit(double level) const;
  /// P(W at least as large as observed) were the location `shift`: small says the location is above it.
  double p_above(double shift) const;

 private:
  size_t pairs_;
  std::vector<double> averages_;  // sorted
};

}  // namespace flopmark
