#include "data/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "data/picture_header.h"
#include "flopmark/error.h"
#include "unit/data/picture_files.h"
#include "unit/data/temp_folder.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Picture decoded(const std::string& file) {
  return decode_picture(std::as_bytes(std::span(file)), "a.png");
}

/// "decoded", or the refusal, which must name the file.
std::string outcome(const std::string& file) {
  try {
    decoded(file);
    return "decoded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("a.png: "));
    return error.what();
  }
}

/// Largest difference of any value from the pixel.
int distance(const Picture& picture, const std::vector<int>& pixel) {
  int most = 0;
  for (size_t i = 0; i < picture.rgb.size(); ++i)
    most = std::max(most, std::abs(picture.rgb[i] - pixel[i % 3]));
  return most;
}

// Two pixels of each kind of PNG; public case A26's grey, grey and alpha, RGB and RGBA in one folder.
TEST(Picture, EveryKindOfPngBecomesRgb) {
  EXPECT_THAT(decoded(png_file({2, 1, 1, {10, 200}})).rgb, ElementsAre(10, 10, 10, 200, 200, 200));
  EXPECT_THAT(decoded(png_file({2, 1, 2, {10, 0, 200, 255}})).rgb, ElementsAre(10, 10, 10, 200, 200, 200));
  EXPECT_THAT(decoded(png_file({2, 1, 3, {1, 2, 3, 4, 5, 6}})).rgb, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(decoded(png_file({2, 1, 4, {1, 2, 3, 0, 4, 5, 6, 128}})).rgb, ElementsAre(1, 2, 3, 4, 5, 6))
      << "alpha is dropped, not composited";
}

TEST(Picture, SixteenBitsAreScaledToEight) {
  // 0x0101 x v is v exactly; 0x80ff = 33023 is 33023 / 257 = 128.49, so 128.
  const Picture picture = decoded(png_file({3, 1, 1, {0x05, 0x05, 0xff, 0xff, 0x80, 0xff}, 16}));
  EXPECT_THAT(picture.rgb, ElementsAre(5, 5, 5, 255, 255, 255, 128, 128, 128));
}

TEST(Picture, InterlacedIsTheSameAsNot) {
  PictureToWrite picture{13, 11, 3, {}};
  for (int i = 0; i < 13 * 11 * 3; ++i) picture.values.push_back(static_cast<uint8_t>(i * 7));
  const std::string plain = png_file(picture);
  picture.interlaced = true;
  const std::string interlaced = png_file(picture);
  ASSERT_NE(plain, interlaced);
  EXPECT_EQ(decoded(interlaced).rgb, picture.values);
  EXPECT_EQ(decoded(plain).rgb, picture.values);
}

TEST(Picture, JpegsOfEveryKindBecomeRgb) {
  EXPECT_LE(distance(decoded(jpeg_file(plain_picture(20, 10, {200, 100, 50}))), {200, 100, 50}), 2);
  EXPECT_LE(distance(decoded(jpeg_file(plain_picture(20, 10, {77}))), {77, 77, 77}), 1);
  EXPECT_LE(distance(decoded(jpeg_file(plain_picture(20, 10, {200, 100, 50}), 95, true)), {200, 100, 50}), 2);
  // libjpeg writes Adobe's marker beside CMYK, and what is written is taken as inverted: 255 is no ink.
  // 255 x 200/255 = 200, 128 x 200/255 = 100, 0.
  EXPECT_LE(distance(decoded(jpeg_file(plain_picture(20, 10, {255, 128, 0, 200}))), {200, 100, 0}), 2);
  const Picture picture = decoded(jpeg_file(plain_picture(20, 10, {1, 2, 3})));
  EXPECT_EQ(picture.width, 20);
  EXPECT_EQ(picture.height, 10);
  EXPECT_EQ(picture.rgb.size(), 600u);
}

TEST(Picture, ContentDecidesNotTheName) {
  EXPECT_EQ(outcome(jpeg_file(plain_picture(4, 4, {1, 2, 3}))), "decoded") << "a JPEG called a.png";
  EXPECT_THAT(outcome("just some notes"), HasSubstr("neither JPEG nor PNG (it begins with 6a 75 73 74"));
  EXPECT_THAT(outcome(""), HasSubstr("empty"));
  EXPECT_THAT(outcome("GIF89a......................"), HasSubstr("neither JPEG nor PNG"));
}

TEST(Picture, ABombIsRefusedByItsHeader) {
  std::string bomb = png_file(plain_picture(4, 4, {0}));
  for (const size_t place : {16u, 20u}) bomb.replace(place, 4, std::string("\x00\x01\x86\xa0", 4));  // 100000
  EXPECT_THAT(outcome(bomb), AllOf(HasSubstr("100000 x 100000 pixels"), HasSubstr("89478485")));
  bomb.replace(16, 4, std::string("\x00\x00\x00\x00", 4));
  EXPECT_THAT(outcome(bomb), HasSubstr("0 x 100000 pixels"));
}

TEST(Picture, DamageIsNamedInTheLibrarysWords) {
  const std::string png = png_file(plain_picture(64, 64, {1, 2, 3}));
  EXPECT_THAT(outcome(png.substr(0, png.size() / 2)), HasSubstr("cannot decode the PNG picture: "));
  std::string flipped = png;
  flipped[png.size() / 2] = static_cast<char>(flipped[png.size() / 2] ^ 0x55);
  EXPECT_THAT(outcome(flipped), HasSubstr("cannot decode the PNG picture: "));
  PictureToWrite noise{64, 64, 3, {}};
  std::mt19937 random(1);
  for (int i = 0; i < 64 * 64 * 3; ++i) noise.values.push_back(static_cast<uint8_t>(random()));
  const std::string jpeg = jpeg_file(noise);
  EXPECT_THAT(outcome(jpeg.substr(0, jpeg.size() / 2)),
              AllOf(HasSubstr("cannot decode the JPEG picture: "), HasSubstr("remature end")));
}

// Every cut and many flips: an outcome, never a crash, and a cut is never taken for the whole.
TEST(Picture, NoCutAndNoFlipDoesHarm) {
  PictureToWrite noise{24, 17, 3, {}};
  std::mt19937 random(2);
  for (int i = 0; i < 24 * 17 * 3; ++i) noise.values.push_back(static_cast<uint8_t>(random()));
  for (const std::string& file : {png_file(noise), jpeg_file(noise), jpeg_file(noise, 80, true)}) {
    for (size_t length = 0; length + 2 < file.size(); length += 1 + length / 16) {
      EXPECT_NE(outcome(file.substr(0, length)), "decoded") << length;
    }
    for (int i = 0; i < 300; ++i) {
      std::string flipped = file;
      flipped[random() % file.size()] = static_cast<char>(random());
      outcome(flipped);
    }
  }
}

// libjpeg looks on for a marker where a zero stands for one, inside of what a walk over segments would skip.
TEST(PictureHeader, WhatTheLibraryWouldReadOtherwiseIsNoHeader) {
  std::string jpeg = jpeg_file(plain_picture(16, 16, {1, 2, 3}));
  jpeg.insert(2, std::string("\xff\x00\x00\x0b\xff\xc0\x00\x0b\x08\xff\xff\xff\xff", 13));
  EXPECT_NE(outcome(jpeg), "decoded");
  std::string png = png_file(plain_picture(16, 16, {1, 2, 3}));
  png.replace(12, 4, "aaAa");
  EXPECT_NE(outcome(png), "decoded");
}

TEST(PictureHeader, OfAFileReadsNoMoreThanItNeeds) {
  const TempFolder folder;
  // A comment of 65533 bytes pushes the frame header beyond the first part that is read.
  std::string jpeg = jpeg_file(plain_picture(33, 21, {1, 2, 3}));
  std::string comment("\xff\xfe\xff\xff", 4);
  comment.append(65533, 'x');
  jpeg.insert(2, comment);
  const PictureHeader header = read_picture_header(folder.file("long.jpg", jpeg));
  EXPECT_EQ(header.width, 33);
  EXPECT_EQ(header.height, 21);
  EXPECT_EQ(decoded(jpeg).width, 33);
  EXPECT_THROW(read_picture_header(folder.file("cut.jpg", jpeg.substr(0, 1000))), Error);
  EXPECT_THROW(read_picture_header(folder.path() / "missing.jpg"), Error);
}

}  // namespace
}  // namespace flopmark
