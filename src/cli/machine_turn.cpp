#include "cli/machine_turn.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "cli/interrupt.h"

namespace flopmark {
namespace {

constexpr auto kLook = std::chrono::milliseconds(20), kLong = std::chrono::milliseconds(1000);

/// Asks again and again, since a signal may come just before a call that waits, and would not be seen.
std::optional<FileLock> wait_for(const std::string& file) {
  const auto start = std::chrono::steady_clock::now();
  static bool said = false;
  while (InterruptGuard::signal() == 0) {
    if (std::optional<FileLock> lock = FileLock::take(file)) return lock;
    if (!said && std::chrono::steady_clock::now() - start >= kLong) {
      fmt::print(stderr, "flopmark: waiting until {} (FLOPMARK_LOCK) is free\n", file);
      said = true;
    }
    std::this_thread::sleep_for(kLook);
  }
  return std::nullopt;
}

}  // namespace

std::optional<MachineTurn> MachineTurn::wait() {
  const char* file = std::getenv("FLOPMARK_LOCK");
  if (file == nullptr || *file == '\0') return MachineTurn(std::nullopt);
  std::optional<FileLock> lock = wait_for(file);
  if (!lock) return std::nullopt;
  return MachineTurn(std::move(lock));
}

LaunchOutcome interrupted_launch() {
  LaunchOutcome outcome;
  outcome.status = LaunchOutcome::Status::interrupted;
  outcome.signal = InterruptGuard::signal();
  return outcome;
}

}  // namespace flopmark
