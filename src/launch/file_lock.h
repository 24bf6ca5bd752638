#pragma once

#include <filesystem>
#include <optional>

#include "launch/file_descriptor.h"

namespace flopmark {

/// An exclusive lock on a file made for it. It goes with its owner, however that ends; programs started
/// meanwhile do not hold it.
class FileLock {
 public:
  /// Waits until it is free. @throws Error 200 if the file cannot be written.
  static FileLock wait(const std::filesystem::path& file);
  /// Absent if somebody else holds it. @throws as wait.
  static std::optional<FileLock> take(const std::filesystem::path& file);

 private:
  explicit FileLock(FileDescriptor held) : held_(std::move(held)) {}

  FileDescriptor held_;
};

}  // namespace flopmark
