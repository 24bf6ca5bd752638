#include "data/picture_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "data/picture.h"
#include "flopmark/error.h"
#include "unit/data/picture_files.h"
#include "unit/data/temp_folder.h"

namespace flopmark {
namespace {

bool has_end(const std::string& file) {
  return has_picture_end(std::as_bytes(std::span(file)));
}

bool decodes(const std::string& file) {
  try {
    decode_picture(std::as_bytes(std::span(file)), "x");
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::vector<std::string> pictures() {
  PictureToWrite noise{24, 17, 3, {}};
  std::mt19937 random(2);
  for (int i = 0; i < 24 * 17 * 3; ++i) noise.values.push_back(static_cast<uint8_t>(random()));
  return {png_file(noise), jpeg_file(noise), jpeg_file(noise, 80, true)};
}

// What is whole must never be called damaged; what follows the end is nobody's business.
TEST(PictureEnd, WholeFilesHaveOne) {
  for (const std::string& file : pictures()) {
    EXPECT_TRUE(has_end(file));
    for (const std::string& more :
         {std::string("\n"), std::string(5000, '\0'), std::string("\xff\xd8\xff")}) {
      EXPECT_TRUE(has_end(file + more));
      EXPECT_TRUE(decodes(file + more));
    }
  }
}

// A folder of thousands is looked at before training: what lies between is left to the decoder.
TEST(PictureEnd, IsToldByTheLastBytes) {
  for (std::string file : pictures()) {
    const size_t middle = file.size() / 2;
    for (size_t at = middle - 40; at < middle + 40; ++at) file[at] = '\0';
    EXPECT_TRUE(has_end(file));
    file.replace(40, 60, std::string(60, '\xff'));
    EXPECT_TRUE(has_end(file));
  }
}

TEST(PictureEnd, NoCutHasOneAndNoneDecodes) {
  for (const std::string& file : pictures()) {
    for (size_t length = 0; length < file.size(); ++length) {
      EXPECT_FALSE(has_end(file.substr(0, length))) << length << " of " << file.size();
    }
    EXPECT_FALSE(decodes(file.substr(0, file.size() - 1)));
    EXPECT_FALSE(decodes(file.substr(0, file.size() - 2)));
    // A copy that was given its size before its bytes.
    const size_t half = file.size() / 2;
    EXPECT_FALSE(has_end(file.substr(0, half) + std::string(file.size() - half, '\0')));
  }
}

TEST(PictureEnd, AnyBytesAreTaken) {
  std::mt19937 random(5);
  for (std::string file : pictures()) {
    for (int i = 0; i < 2000; ++i) {
      file[random() % file.size()] = static_cast<char>(random());
      has_end(file);
    }
  }
}

TEST(PictureEnd, AFileThatIsCutShortIsNamed) {
  const TempFolder folder;
  for (const std::string& file : pictures()) {
    EXPECT_NO_THROW(check_picture_file(folder.file("x", file)));
    try {
      check_picture_file(folder.file("cut", file.substr(0, file.size() - 5)));
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), testing::HasSubstr("cut: the picture ends before its last byte: cut short"));
    }
  }
}

}  // namespace
}  // namespace flopmark
