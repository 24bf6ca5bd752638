#pragma once

#include <torch/types.h>

#include <cstdint>

namespace flopmark {

/// Rotary position embedding (Su et al. 2021, arXiv:2104.09864) over neighbouring pairs, base 10000: pair i
/// of a head of d values at position t is turned by t * 10000^(-2i/d).
class Rotary {
 public:
  explicit Rotary(int64_t head_size) : head_size_(head_size) {}

  /// Rotations of positions 0..length-1 as complex64 [length, 1, head_size / 2]; kept for the longest length
  /// seen.
  torch::Tensor rotations(int64_t length, const torch::Device& device);
  /// Turns x [B, T, heads, head_size]; computed in float32, returned in x's dtype.
  static torch::Tensor apply(const torch::Tensor& x, const torch::Tensor& rotations);

 private:
  int64_t head_size_;
  torch::Tensor table_;
};

}  // namespace flopmark
