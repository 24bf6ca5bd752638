#pragma once

#include <cstdint>
#include <vector>

#include "data/picture.h"

namespace flopmark {

/// One axis of a resize: for every output place, where its source places begin and how they are weighed.
struct ResizeAxis {
  std::vector<int64_t> first;  ///< per output place
  std::vector<float> weights;  ///< `taps` per output place, those beyond the picture 0; they add up to 1
  int64_t taps = 1;
};

/// Bilinear with antialias, as Pillow's BILINEAR and torchvision's Resize(antialias=True): a triangle filter
/// as wide as two source pixels, or when shrinking as two output pixels; pixel centres at half. Output places
/// [from, from + count) of an axis that goes from `size` to `resized` pixels.
ResizeAxis resize_axis(int64_t size, int64_t resized, int64_t from, int64_t count);

/// Scales the shorter side to `size` (the longer one to the whole number below its share) and cuts the middle
/// `size` x `size` out, as torchvision's Resize(size) and CenterCrop(size) do, but without rounding in
/// between. @returns size x size x 3 values from 0 to 255.
std::vector<float> resize_and_crop(const Picture& picture, int64_t size);

}  // namespace flopmark
