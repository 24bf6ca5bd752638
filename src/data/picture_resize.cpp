#include "data/picture_resize.h"

#include <algorithm>
#include <cmath>

namespace flopmark {
namespace {

constexpr int64_t kRgb = 3;

/// Where the resized picture's middle begins: as torchvision's center_crop, which rounds half to even.
int64_t crop_begin(int64_t resized, int64_t size) {
  return static_cast<int64_t>(std::nearbyint(static_cast<double>(resized - size) / 2));
}

/// One row of the picture, resized along x.
void resize_row(const uint8_t* source, const ResizeAxis& axis, float* target) {
  const float* weights = axis.weights.data();
  for (const int64_t first : axis.first) {
    const uint8_t* pixel = source + first * kRgb;
    float red = 0, green = 0, blue = 0;
    for (int64_t tap = 0; tap < axis.taps; ++tap, pixel += kRgb) {
      const float weight = weights[tap];
      red += weight * static_cast<float>(pixel[0]);
      green += weight * static_cast<float>(pixel[1]);
      blue += weight * static_cast<float>(pixel[2]);
    }
    target[0] = red;
    target[1] = green;
    target[2] = blue;
    target += kRgb;
    weights += axis.taps;
  }
}

}  // namespace

ResizeAxis resize_axis(int64_t size, int64_t resized, int64_t from, int64_t count) {
  const double scale = static_cast<double>(size) / static_cast<double>(resized);
  const double support = std::max(scale, 1.0);
  ResizeAxis axis;
  axis.taps = std::min(size, static_cast<int64_t>(std::ceil(support)) * 2 + 1);
  axis.weights.assign(static_cast<size_t>(count * axis.taps), 0.0F);
  for (int64_t place = 0; place < count; ++place) {
    const double centre = (static_cast<double>(from + place) + 0.5) * scale;
    const auto low = std::max<int64_t>(0, static_cast<int64_t>(centre - support + 0.5));
    const auto high = std::min(size, static_cast<int64_t>(centre + support + 0.5));
    // Moved back where the taps would reach beyond the picture; their weights stay where they belong.
    const int64_t first = std::min(low, size - axis.taps);
    axis.first.push_back(first);
    float* weights = axis.weights.data() + place * axis.taps;
    double sum = 0;
    for (int64_t i = low; i < high; ++i) {
      sum += std::max(0.0, 1 - std::fabs((static_cast<double>(i) + 0.5 - centre) / support));
    }
    for (int64_t i = low; i < high; ++i) {
      const double weight = std::max(0.0, 1 - std::fabs((static_cast<double>(i) + 0.5 - centre) / support));
      weights[i - first] = static_cast<float>(weight / sum);
    }
  }
  return axis;
}

std::vector<float> resize_and_crop(const Picture& picture, int64_t size) {
  const int64_t shorter = std::min(picture.width, picture.height);
  const int64_t width = picture.width * size / shorter, height = picture.height * size / shorter;
  const ResizeAxis x = resize_axis(picture.width, width, crop_begin(width, size), size);
  const ResizeAxis y = resize_axis(picture.height, height, crop_begin(height, size), size);
  const int64_t first_row = y.first.front(), row_values = size * kRgb;
  const int64_t rows = y.first.back() + y.taps - first_row;
  std::vector<float> narrowed(static_cast<size_t>(rows * row_values));
  for (int64_t row = 0; row < rows; ++row) {
    resize_row(picture.rgb.data() + (first_row + row) * picture.width * kRgb, x,
               narrowed.data() + row * row_values);
  }
  std::vector<float> result(static_cast<size_t>(size * row_values), 0.0F);
  for (int64_t place = 0; place < size; ++place) {
    float* target = result.data() + place * row_values;
    for (int64_t tap = 0; tap < y.taps; ++tap) {
      const float weight = y.weights[static_cast<size_t>(place * y.taps + tap)];
      if (weight == 0) continue;
      const float* source =
          narrowed.data() + (y.first[static_cast<size_t>(place)] - first_row + tap) * row_values;
      for (int64_t i = 0; i < row_values; ++i) target[i] += weight * source[i];
    }
  }
  return result;
}

}  // namespace flopmark
