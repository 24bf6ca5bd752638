#include "flops/checked_math.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace flopmark {

int64_t checked_add(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) {
    throw std::overflow_error(
        fmt::format("a FLOP count exceeds 64 bits: {} + {}; count a smaller batch", a, b));
  }
  return result;
}

int64_t checked_multiply(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    throw std::overflow_error(
        fmt::format("a FLOP count exceeds 64 bits: {} x {}; count a smaller batch", a, b));
  }
  return result;
}

int64_t checked_sum(std::initializer_list<int64_t> terms) {
  int64_t total = 0;
  for (const int64_t term : terms) {
    total = checked_add(total, term);
  }
  return total;
}

int64_t checked_product(std::span<const int64_t> factors) {
  if (std::find(factors.begin(), factors.end(), 0) != factors.end()) {
    return 0;  // even where the other factors alone would overflow
  }
  int64_t product = 1;
  for (const int64_t factor : factors) {
    product = checked_multiply(product, factor);
  }
  return product;
}

int64_t checked_product(std::initializer_list<int64_t> factors) {
  return checked_product(std::span<const int64_t>(factors.begin(), factors.size()));
}

}  // namespace flopmark
