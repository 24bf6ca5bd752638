#pragma once

#include <cstdint>
#include <string>

namespace flopmark {

/// A product [m, k] x [k, n].
struct MatmulShape {
  int64_t m = 0, n = 0, k = 0;
  /// 2 m n k: k multiplies and k adds for each of m n results (k - 1 adds really are needed; everybody counts
  /// k).
  double flop() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

/// The best sustained rate of one precision.
struct MatmulRate {
  std::string precision;
  MatmulShape shape;        ///< the shape that reached it
  double flop_per_s = 0;    ///< median of the blocks of that shape
  double spread_ratio = 1;  ///< p90 / p10 of those blocks
  int64_t blocks = 0;
  double timed_s = 0;  ///< those blocks together
};

}  // namespace flopmark
