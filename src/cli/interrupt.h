#pragma once

#include <array>
#include <csignal>

namespace flopmark {

/// While one lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT are remembered instead of ending the process, so that
/// what was measured is written and scratch folders are removed also between two launches. One at a time. A
/// signal that was ignored stays so.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  /// Whether such a signal came since construction.
  bool interrupted() const { return signal() != 0; }
  /// The last such signal since the last one of these was made; 0: none.
  static int signal();

 private:
  std::array<struct sigaction, 4> before_{};
};

}  // namespace flopmark
