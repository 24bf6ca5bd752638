#include "data/picture_resize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flopmark {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::FloatNear;

Picture grey(int64_t width, int64_t height, const std::vector<uint8_t>& values) {
  Picture picture{width, height, {}};
  for (const uint8_t value : values) picture.rgb.insert(picture.rgb.end(), 3, value);
  return picture;
}

/// The first channel.
std::vector<float> red(const std::vector<float>& rgb) {
  std::vector<float> values;
  for (size_t i = 0; i < rgb.size(); i += 3) values.push_back(rgb[i]);
  return values;
}

TEST(PictureResize, AConstantPictureStaysConstant) {
  for (const auto& [width, height, size] :
       {std::tuple(1, 1, 5), {7, 3, 2}, {640, 31, 13}, {3, 500, 8}, {9, 9, 9}}) {
    const Picture picture =
        grey(width, height, std::vector<uint8_t>(static_cast<size_t>(width * height), 123));
    const std::vector<float> out = resize_and_crop(picture, size);
    EXPECT_EQ(out.size(), static_cast<size_t>(size * size * 3));
    EXPECT_THAT(out, Each(FloatNear(123.0F, 1e-3F))) << width << " x " << height;
  }
}

TEST(PictureResize, TwoByTwoToOneIsTheMean) {
  // Triangle of support 2 around the centre 1: both pixels of an axis lie 0.5 away and weigh the same.
  EXPECT_THAT(red(resize_and_crop(grey(2, 2, {0, 100, 40, 60}), 1)), ElementsAre(FloatNear(50, 1e-4F)));
}

TEST(PictureResize, FourToTwoByHand) {
  // Scale 2, centres 1 and 3, weights 1 - distance/2 of pixels at 0.5 1.5 2.5 3.5 within 2 of the centre:
  // 0.75 0.75 0.25 over 1.75 for the first; mirrored for the second.
  const Picture picture = grey(4, 4, {70, 140, 210, 0, 70, 140, 210, 0, 70, 140, 210, 0, 70, 140, 210, 0});
  const float left = (0.75F * 70 + 0.75F * 140 + 0.25F * 210) / 1.75F;
  const float right = (0.25F * 140 + 0.75F * 210 + 0) / 1.75F;
  EXPECT_THAT(red(resize_and_crop(picture, 2)), ElementsAre(FloatNear(left, 1e-3F), FloatNear(right, 1e-3F),
                                                            FloatNear(left, 1e-3F), FloatNear(right, 1e-3F)));
}

TEST(PictureResize, EnlargingIsLinearBetweenPixelCentres) {
  // Centres at 0.25 0.75 1.25 1.75 of two pixels: ends are held, between 1/4 and 3/4.
  const std::vector<float> out = red(resize_and_crop(grey(2, 2, {0, 100, 0, 100}), 4));
  EXPECT_THAT(
      std::vector<float>(out.begin(), out.begin() + 4),
      ElementsAre(FloatNear(0, 1e-3F), FloatNear(25, 1e-3F), FloatNear(75, 1e-3F), FloatNear(100, 1e-3F)));
}

TEST(PictureResize, TheSameSizeIsTheSamePictureAndTheMiddleIsCut) {
  EXPECT_THAT(red(resize_and_crop(grey(2, 2, {1, 2, 3, 4}), 2)), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(red(resize_and_crop(grey(4, 2, {1, 2, 3, 4, 5, 6, 7, 8}), 2)), ElementsAre(2, 3, 6, 7));
  EXPECT_THAT(red(resize_and_crop(grey(2, 4, {1, 2, 3, 4, 5, 6, 7, 8}), 2)), ElementsAre(3, 4, 5, 6));
  // 5 - 2 = 3, half 1.5, rounded to the even 2.
  EXPECT_THAT(red(resize_and_crop(grey(5, 2, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), 2)), ElementsAre(3, 4, 8, 9));
}

TEST(PictureResize, WeightsAddUpWhereverTheWindowLies) {
  for (const auto& [size, resized] :
       {std::pair<int64_t, int64_t>{1, 7}, {7, 1}, {100, 33}, {33, 100}, {5, 5}, {2, 1}}) {
    const ResizeAxis axis = resize_axis(size, resized, 0, resized);
    for (size_t place = 0; place < axis.first.size(); ++place) {
      EXPECT_GE(axis.first[place], 0);
      EXPECT_LE(axis.first[place] + axis.taps, size);
      float sum = 0;
      for (int64_t tap = 0; tap < axis.taps; ++tap)
        sum += axis.weights[place * static_cast<size_t>(axis.taps) + static_cast<size_t>(tap)];
      EXPECT_NEAR(sum, 1, 1e-5) << size << " to " << resized;
    }
  }
}

}  // namespace
}  // namespace flopmark
