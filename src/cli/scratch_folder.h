#pragma once

#include <cstdint>
#include <filesystem>

#include "launch/file_descriptor.h"

namespace flopmark {

/// Room for what git says while commits are listed and built.
inline constexpr int64_t kBuildScratchBytes = 1 << 16;

/// A fresh folder of this process's own under TMPDIR (or /tmp), removed with everything in it at the end of
/// its scope. What processes of this user that were killed left there is removed first.
class ScratchFolder {
 public:
  /// @throws Error 200 if it cannot be made, or has no room for `bytes`.
  explicit ScratchFolder(int64_t bytes);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  ScratchFolder();

  std::filesystem::path path_;
  FileDescriptor lock_;  ///< held while the folder is in use: it goes with the process, however that ends
};

}  // namespace flopmark
