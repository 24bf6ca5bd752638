#include "flops/strided_span.h"

#include <algorithm>
#include <stdexcept>

#include "flops/checked_math.h"

namespace flopmark {

std::optional<int64_t> strided_span(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                                    int64_t offset) {
  const auto is_negative = [](int64_t value) { return value < 0; };
  if (sizes.size() != strides.size() || is_negative(offset) || std::ranges::any_of(sizes, is_negative) ||
      std::ranges::any_of(strides, is_negative))
    return std::nullopt;
  if (std::ranges::find(sizes, 0) != sizes.end()) return 0;
  try {
    int64_t last = offset;
    for (size_t i = 0; i < sizes.size(); ++i) {
      last = checked_add(last, checked_multiply(sizes[i] - 1, strides[i]));
    }
    return checked_add(last, 1);
  } catch (const std::overflow_error&) {
    return std::nullopt;
  }
}

}  // namespace flopmark
