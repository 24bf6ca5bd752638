#pragma once

#include <optional>

#include "config/rank_place.h"
#include "launch/file_lock.h"
#include "launch/launch.h"

namespace flopmark {

/// The right to measure on a machine that several share: a lock on the file that FLOPMARK_LOCK names, held
/// for one launch or pair. Without that variable nobody is waited for.
class MachineTurn {
 public:
  /// Waits until it is free, and says so on standard error, once, if that takes long. Absent: a signal came
  /// (interrupt.h). @throws Error 200 if the file can be neither made nor locked.
  static std::optional<MachineTurn> wait() { return wait_as(FileLock::Kind::exclusive, true); }
  /// Of one rank of those that a launcher started. All of one host hold the lock together: once one has it
  /// the others need not wait. On several hosts, whose files may be free at different times, a rank that
  /// waits would be missed by the others (parallel.timeout_s): nobody is waited for, and the first rank says
  /// so. @throws as wait.
  static std::optional<MachineTurn> wait_as_rank(const RankPlace& place);
  /// How long this process has waited for its turns so far, those it gave up included.
  static double waited_s();

 private:
  static std::optional<MachineTurn> wait_as(FileLock::Kind kind, bool tells);
  explicit MachineTurn(std::optional<FileLock> lock) : lock_(std::move(lock)) {}

  std::optional<FileLock> lock_;
};

/// What becomes of a launch whose turn never came.
LaunchOutcome interrupted_launch();

}  // namespace flopmark
