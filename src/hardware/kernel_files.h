#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace flopmark {

/// Where the kernel's files lie: below `root`, which tests point at a folder of their own. Whatever is
/// missing, or may not be read, is simply unknown.
struct KernelFiles {
  std::filesystem::path root = "/";

  std::filesystem::path at(const std::string& path) const { return root / path; }
  /// The whole file; empty if it cannot be read. Files of /proc and /sys have no length to ask for.
  std::string text(const std::string& path) const;
  /// The file's first word as a whole number from 0 up.
  std::optional<int64_t> count(const std::string& path) const;
};

/// The CPUs this process may use, in order; empty if the kernel does not say.
std::vector<int> usable_cpus();

/// "0-3,8" for 0, 1, 2, 3, 8; absent for none.
std::optional<std::string> cpu_list_text(const std::vector<int>& cpus);

}  // namespace flopmark
