#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace flopmark::testing {

/// `text` must be what the file holds, a path below the source tree. With FLOPMARK_UPDATE_GOLDEN=1 the file
/// is written instead; look at the difference before committing it.
inline void expect_golden(const std::string& text, const std::string& file) {
  const std::filesystem::path path = std::filesystem::path(FLOPMARK_SOURCE_DIR) / file;
  const char* update = std::getenv("FLOPMARK_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  std::ifstream golden(path, std::ios::binary);
  ASSERT_TRUE(golden.good()) << path << " is missing; FLOPMARK_UPDATE_GOLDEN=1 writes it";
  std::ostringstream expected;
  expected << golden.rdbuf();
  EXPECT_EQ(text, expected.str()) << "differs from " << file << "; FLOPMARK_UPDATE_GOLDEN=1 rewrites it";
}

/// Columns of the widest line, in characters.
inline size_t widest_line(const std::string& text) {
  size_t widest = 0;
  size_t width = 0;
  for (const char byte : text) {
    if (byte == '\n') {
      width = 0;
    } else if ((static_cast<unsigned char>(byte) & 0xC0) != 0x80) {
      widest = std::max(widest, ++width);
    }
  }
  return widest;
}

}  // namespace flopmark::testing
