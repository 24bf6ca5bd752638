#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "hardware/kernel_files.h"

namespace flopmark {

/// A folder that stands for "/": files of /proc and /sys as a test wants them. Removed at its end.
class KernelTree {
 public:
  KernelTree() {
    std::string name = (std::filesystem::temp_directory_path() / "kernel-tree-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    root_ = name;
  }
  ~KernelTree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  KernelTree(const KernelTree&) = delete;
  KernelTree& operator=(const KernelTree&) = delete;

  KernelFiles files() const { return {root_}; }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  /// A folder where a file should be: even root cannot read it.
  void make_unreadable(const std::string& path) const { std::filesystem::create_directories(root_ / path); }

 private:
  std::filesystem::path root_;
};

}  // namespace flopmark
