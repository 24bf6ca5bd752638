#pragma once

#include <cstdint>
#include <vector>

namespace flopmark {

/// A fixed computation timed beside the run, so that a slower machine can be told from a slower program. One
/// reading per entry, in order of time: each launch takes one before its model is made and one after its
/// timed steps. Both lists are equally long.
struct Ruler {
  int64_t matmul_flop = 0;       ///< of one fp32 matrix product
  int64_t copy_bytes = 0;        ///< read and written by one memory copy
  std::vector<double> matmul_s;  ///< one product, median of a reading's repetitions
  std::vector<double> copy_s;    ///< one copy, likewise
};

}  // namespace flopmark
