#pragma once

#include <filesystem>

namespace flopmark {

/// A fresh folder of this process's own under TMPDIR (or /tmp), removed with everything in it at the end of
/// its scope.
class ScratchFolder {
 public:
  /// @throws Error 200 if it cannot be made.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace flopmark
