#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

namespace flopmark {

/// Exact int64 arithmetic for counts. @throws std::overflow_error instead of wrapping around.
int64_t checked_add(int64_t a, int64_t b);
int64_t checked_multiply(int64_t a, int64_t b);

/// Sum of all terms; 0 for none.
int64_t checked_sum(std::initializer_list<int64_t> terms);

/// Product of all factors; 1 for none, 0 if any factor is 0.
int64_t checked_product(std::span<const int64_t> factors);
int64_t checked_product(std::initializer_list<int64_t> factors);

}  // namespace flopmark
