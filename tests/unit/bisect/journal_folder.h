#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "bisect/journal.h"

namespace flopmark {

/// A test with a place for a journal.
class JournalFolder : public ::testing::Test {
 protected:
  JournalFolder() {
    std::string name = ::testing::TempDir() + "flopmark-bisect-XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ / "kept" / "journal.jsonl";
  }
  ~JournalFolder() override { std::filesystem::remove_all(folder_); }

  std::string text() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& text) const {
    std::filesystem::create_directories(path_.parent_path());
    std::ofstream(path_, std::ios::binary) << text;
  }

  const JournalSubject subject_{{"good commit", "aaaa"}, {"build command", "make"}};
  std::filesystem::path folder_, path_;
};

}  // namespace flopmark
