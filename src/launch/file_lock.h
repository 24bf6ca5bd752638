#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "launch/file_descriptor.h"

namespace flopmark {

/// A lock on a file made for it, which other users may lock too. It goes with its owner, however that ends;
/// programs started meanwhile do not hold it.
class FileLock {
 public:
  enum class Kind {
    exclusive,  ///< nobody else holds it
    shared      ///< nobody else holds it but as shared
  };
  /// Absent if somebody else holds it. @throws Error 200 if the file can be neither made nor locked.
  static std::optional<FileLock> take(const std::filesystem::path& file, Kind kind = Kind::exclusive);

  struct Waiting {
    std::function<bool()> give_up;       ///< asked often
    std::function<void()> takes_longer;  ///< told once, if it is not free within a second
    Kind kind = Kind::exclusive;
  };
  /// Waits until it is free; absent if given up. @throws as take.
  static std::optional<FileLock> wait(const std::filesystem::path& file, const Waiting& waiting);

 private:
  explicit FileLock(FileDescriptor held) : held_(std::move(held)) {}

  FileDescriptor held_;
};

}  // namespace flopmark
