#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace flopmark {

/// A folder of this test's own, removed at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string name = ::testing::TempDir() + "flopmark-data-XXXXXX";
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

/// The values as they lie in a file.
template <typename T>
std::string as_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// 256 int32: magic, version, count, zeros.
inline std::string llmc_header(int32_t count, int32_t version = 1, int32_t magic = 20240520) {
  std::vector<int32_t> words(256);
  words[0] = magic;
  words[1] = version;
  words[2] = count;
  return as_bytes(words);
}

}  // namespace flopmark
