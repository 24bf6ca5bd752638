#include "data/token_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "data/mapped_file.h"
#include "data/token_file.h"
#include "flopmark/error.h"
#include "unit/data/temp_folder.h"

namespace flopmark {
namespace {

using testing::HasSubstr;

std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string writer_refusal(const std::string& text, const std::filesystem::path& output,
                           const TokenWriteOptions& options = {}) {
  try {
    write_byte_tokens(text, output, options);
    return "written";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(TokenWriter, WritesWhatTheReaderReads) {
  const TempFolder folder;
  const std::string text = folder.file("a.txt", std::string("Az\0\xff", 4));
  const auto output = folder.path() / "a.bin";
  EXPECT_EQ(write_byte_tokens(text, output, {}), 4);
  EXPECT_EQ(content(output), llmc_header(4) + as_bytes<uint16_t>({65, 122, 0, 255}));
  const MappedFile file(output);
  EXPECT_EQ(token_layout(file.bytes(), "auto", "a.bin").count, 4);
  EXPECT_EQ(write_byte_tokens(text, folder.path() / "raw.bin", {.format = "raw-uint16"}), 4);
  EXPECT_EQ(content(folder.path() / "raw.bin"), as_bytes<uint16_t>({65, 122, 0, 255}));
}

TEST(TokenWriter, ALongTextIsWrittenInParts) {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 1'200'000; ++i) text += static_cast<char>(i * 31);
  const auto output = folder.path() / "long.bin";
  write_byte_tokens(folder.file("long.txt", text), output, {.format = "raw-uint16"});
  const std::string ids = content(output);
  ASSERT_EQ(ids.size(), 2 * text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    ASSERT_EQ(ids[2 * i], text[i]) << i;
    ASSERT_EQ(ids[2 * i + 1], 0) << i;
  }
}

TEST(TokenWriter, NothingIsOverwrittenWithoutForce) {
  const TempFolder folder;
  const std::string text = folder.file("a.txt", "abc"), there = folder.file("there.bin", "old");
  EXPECT_THAT(writer_refusal(text, there), HasSubstr("there.bin exists: --force overwrites it"));
  EXPECT_EQ(content(there), "old");
  EXPECT_EQ(writer_refusal(text, there, {.force = true}), "written");
  EXPECT_EQ(content(there).size(), 1030u);
  EXPECT_THAT(writer_refusal(text, text, {.force = true}), HasSubstr("is the text itself"));
  EXPECT_EQ(content(text), "abc");
  EXPECT_THAT(writer_refusal(text, folder.path(), {.force = true}), HasSubstr("no regular file"));
}

TEST(TokenWriter, WhatCannotBeDoneIsSaid) {
  const TempFolder folder;
  EXPECT_THAT(writer_refusal(folder.path() / "none.txt", folder.path() / "o.bin"), HasSubstr("No such file"));
  EXPECT_THAT(writer_refusal(folder.file("empty.txt", ""), folder.path() / "o.bin"),
              HasSubstr("nothing to tokenize"));
  EXPECT_THAT(writer_refusal(folder.file("a.txt", "a"), folder.path() / "no" / "o.bin"),
              testing::AllOf(HasSubstr("cannot write"), HasSubstr("No such file")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2) << "no draft is left";
}

}  // namespace
}  // namespace flopmark
