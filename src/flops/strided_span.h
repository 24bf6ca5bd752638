#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace flopmark {

/// Values of its storage that a strided tensor reaches, counted from the storage's beginning: what a file's
/// word for a tensor's shape is held against. `strides` has a value for each of `sizes`, in values, not
/// bytes. 0 for a tensor without values. Nothing if there is a negative number among them, or 64 bits cannot
/// count it.
std::optional<int64_t> strided_span(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                                    int64_t offset);

}  // namespace flopmark
