#pragma once

#include <cstddef>
#include <cstdint>

namespace flopmark {

/// Random numbers that are the same on every machine for the same seed (the standard's distributions are
/// not): SplitMix64 (Steele, Lea and Flood, 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t bits();
  double uniform();          ///< in [0, 1)
  size_t index(size_t end);  ///< in [0, end), end > 0
  double sign();             ///< -1 or 1
  double normal();           ///< mean 0, standard deviation 1 (Box and Muller)
  double exponential();      ///< mean 1

 private:
  uint64_t state_;
};

}  // namespace flopmark
