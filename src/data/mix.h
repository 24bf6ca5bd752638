#pragma once

#include <cstdint>

namespace flopmark {

/// The `index`-th output of the SplitMix64 generator seeded with `seed` (Steele, Lea, Flood 2014, "Fast
/// splittable pseudorandom number generators"): a random number for any index without the ones before it.
constexpr uint64_t splitmix64(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// `random` scaled to [0, bound) (the high half of the product; the bias is below bound / 2^64).
constexpr uint64_t scale_to(uint64_t random, uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(random) * bound) >> 64);
}

}  // namespace flopmark
