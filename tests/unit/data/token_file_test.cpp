#include "data/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "flopmark/error.h"
#include "unit/data/temp_folder.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TokenLayout layout_of(const std::string& file, const std::string& format = "auto") {
  return token_layout(std::as_bytes(std::span(file)), format, "tokens.bin");
}

std::string message_of(const std::string& file, const std::string& format = "auto") {
  try {
    const TokenLayout layout = layout_of(file, format);
    return "accepted as " + layout.format;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr(format == "no-such" ? "data.format" : "tokens.bin"));
    return error.what();
  }
}

TEST(TokenFile, KnowsBothFormatsByTheirMagic) {
  const std::string ids(2000, '\7');
  const TokenLayout raw = layout_of(ids);
  EXPECT_EQ(raw.format, "raw-uint16");
  EXPECT_EQ(raw.offset_bytes, 0);
  EXPECT_EQ(raw.element_bytes, 2);
  EXPECT_EQ(raw.count, 1000);
  const TokenLayout llmc = layout_of(llmc_header(1000) + ids);
  EXPECT_EQ(llmc.format, "llmc");
  EXPECT_EQ(llmc.offset_bytes, 1024);
  EXPECT_EQ(llmc.element_bytes, 2);
  EXPECT_EQ(llmc.count, 1000);
  EXPECT_EQ(layout_of(ids, "raw-uint16").format, "raw-uint16");
  EXPECT_EQ(layout_of(llmc_header(1000) + ids, "llmc").format, "llmc");
}

TEST(TokenFile, TextIsBytes) {
  const std::string file = "hello";
  const TokenLayout layout = text_layout(std::as_bytes(std::span(file)));
  EXPECT_EQ(layout.format, "text");
  EXPECT_EQ(layout.offset_bytes, 0);
  EXPECT_EQ(layout.element_bytes, 1);
  EXPECT_EQ(layout.count, 5);
}

TEST(TokenFile, RefusesAHeaderReadAsIds) {
  EXPECT_THAT(message_of(llmc_header(2) + "abcd", "raw-uint16"),
              AllOf(HasSubstr("raw-uint16"), HasSubstr("magic number 20240520"), HasSubstr("llmc or auto")));
}

TEST(TokenFile, RefusesIdsReadAsAHeader) {
  EXPECT_THAT(message_of(std::string("\1\0\2\0", 4) + std::string(2000, '\0'), "llmc"),
              AllOf(HasSubstr("131073"), HasSubstr("20240520"), HasSubstr("raw-uint16")));
  EXPECT_THAT(message_of("", "llmc"), HasSubstr("20240520"));
}

TEST(TokenFile, RefusesACountThatDisagreesWithTheSize) {
  const std::string ids(2000, '\7');
  for (const int32_t count : {999, 1001, 0, -1, INT32_MIN, INT32_MAX}) {
    EXPECT_THAT(message_of(llmc_header(count) + ids),
                AllOf(HasSubstr(std::to_string(count)), HasSubstr("3024")));
  }
  EXPECT_THAT(message_of(llmc_header(1000) + ids + "x"), HasSubstr("3025"));
  EXPECT_THAT(message_of(llmc_header(0).substr(0, 1023)), HasSubstr("ends after 1023"));
  EXPECT_THAT(message_of(llmc_header(0).substr(0, 4)), HasSubstr("ends after 4"));
  EXPECT_EQ(layout_of(llmc_header(0)).count, 0);
}

TEST(TokenFile, RefusesOtherVersionsAndWidths) {
  EXPECT_THAT(message_of(llmc_header(2, 2) + "abcd"), HasSubstr("version 2"));
  EXPECT_THAT(message_of(llmc_header(1, 7, 20240801) + "abcd"), HasSubstr("4 bytes"));
  EXPECT_THAT(message_of(llmc_header(1, 7, 20240801) + "abcd", "raw-uint16"), HasSubstr("4 bytes"));
}

TEST(TokenFile, RefusesAnOddNumberOfBytes) {
  EXPECT_THAT(message_of(std::string(2001, 'a')), AllOf(HasSubstr("2001"), HasSubstr("odd")));
  EXPECT_EQ(layout_of(std::string(2, 'a')).count, 1);
  EXPECT_THAT(message_of("a"), HasSubstr("odd"));
}

TEST(TokenFile, NamesTheKnownFormats) {
  EXPECT_THAT(message_of("ab", "no-such"), AllOf(HasSubstr("no-such"), HasSubstr("auto, raw-uint16, llmc")));
}

/// Random files, most of them a valid one with a few bytes changed or cut off: accepted with a layout that
/// lies in the file, or refused in words.
TEST(TokenFile, AnyBytesAreParsedOrRefused) {
  std::mt19937 random(1);
  const std::string formats[] = {"auto", "raw-uint16", "llmc"};
  int accepted = 0, refused = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string file =
        random() % 4 ? llmc_header(20) + std::string(40, 'x') : std::string(random() % 1100, '\0');
    for (uint32_t n = random() % 4; n > 0 && !file.empty(); --n) {
      const size_t place =
          random() % 2 ? random() % std::min<size_t>(12, file.size()) : random() % file.size();
      file[place] = static_cast<char>(random());
    }
    if (random() % 4 == 0) file.resize(random() % (file.size() + 1));
    const std::string& format = formats[random() % 3];
    try {
      const TokenLayout layout = layout_of(file, format);
      ASSERT_GE(layout.count, 0);
      ASSERT_EQ(layout.offset_bytes + layout.count * layout.element_bytes, static_cast<int64_t>(file.size()));
      ++accepted;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ExitCode::usage);
      ++refused;
    }
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace flopmark
