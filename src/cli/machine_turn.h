#pragma once

#include <optional>

#include "launch/file_lock.h"
#include "launch/launch.h"

namespace flopmark {

/// The right to measure on a machine that several share: an exclusive lock on the file that FLOPMARK_LOCK
/// names, held for one launch or pair. Without that variable nobody is waited for.
class MachineTurn {
 public:
  /// Waits until it is free, and says so on standard error, once, if that takes long. Absent: a signal came
  /// (interrupt.h). @throws Error 200 if the file can be neither made nor locked.
  static std::optional<MachineTurn> wait();
  /// Of a rank whose job another process on this machine waits for: nobody is waited for.
  static MachineTurn of_another() { return MachineTurn(std::nullopt); }

 private:
  explicit MachineTurn(std::optional<FileLock> lock) : lock_(std::move(lock)) {}

  std::optional<FileLock> lock_;
};

/// What becomes of a launch whose turn never came.
LaunchOutcome interrupted_launch();

}  // namespace flopmark
