#include "cli/machine_turn.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "cli/interrupt.h"
#include "cli/terminal.h"

namespace flopmark {
namespace {

/// Longer than a waiting flopmark takes to look again: who has just measured lets others go first.
constexpr auto kCourtesy = std::chrono::milliseconds(30);

}  // namespace

std::optional<MachineTurn> MachineTurn::wait() {
  const char* file = std::getenv("FLOPMARK_LOCK");
  if (file == nullptr || *file == '\0') return MachineTurn(std::nullopt);
  static bool had_one = false, told = false;
  if (had_one) std::this_thread::sleep_for(kCourtesy);
  const auto tell = [&] {
    if (!told) write_note(fmt::format("waiting until {} (FLOPMARK_LOCK) is free", file));
    told = true;
  };
  std::optional<FileLock> lock = FileLock::wait(file, {[] { return InterruptGuard::signal() != 0; }, tell});
  if (!lock) return std::nullopt;
  had_one = true;
  return MachineTurn(std::move(lock));
}

LaunchOutcome interrupted_launch() {
  LaunchOutcome outcome;
  outcome.status = LaunchOutcome::Status::interrupted;
  outcome.signal = InterruptGuard::signal();
  return outcome;
}

}  // namespace flopmark
