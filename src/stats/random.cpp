#include "stats/random.h"

#include <cmath>
#include <numbers>

namespace flopmark {

uint64_t Random::bits() {
  uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

double Random::uniform() {
  return static_cast<double>(bits() >> 11U) * 0x1.0p-53;
}

size_t Random::index(size_t end) {
  return static_cast<size_t>(uniform() * static_cast<double>(end));
}

double Random::sign() {
  return (bits() >> 63U) != 0 ? 1.0 : -1.0;
}

double Random::normal() {
  const double radius = std::sqrt(2 * exponential());
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

double Random::exponential() {
  return -std::log1p(-uniform());
}

}  // namespace flopmark
