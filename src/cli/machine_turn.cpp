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

/// Of all waits that are over.
std::chrono::duration<double> all_waits{0};

/// Adds the time that it lives to them.
class CountedWait {
 public:
  CountedWait() = default;
  ~CountedWait() { all_waits += std::chrono::steady_clock::now() - begun_; }
  CountedWait(const CountedWait&) = delete;
  CountedWait& operator=(const CountedWait&) = delete;

 private:
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

/// Null without one.
const char* lock_file() {
  const char* file = std::getenv("FLOPMARK_LOCK");
  return file == nullptr || *file == '\0' ? nullptr : file;
}

/// Once.
void tell_of_several_hosts() {
  static bool told = false;
  if (!told) {
    write_note(
        "FLOPMARK_LOCK is not waited for: this launcher's ranks are on several hosts; hold the lock of each "
        "around the whole job");
  }
  told = true;
}

}  // namespace

std::optional<MachineTurn> MachineTurn::wait_as_rank(const RankPlace& place) {
  if (place.local_ranks == place.ranks) return wait_as(FileLock::Kind::shared, place.rank == 0);
  if (lock_file() != nullptr && place.rank == 0) tell_of_several_hosts();
  return MachineTurn(std::nullopt);
}

std::optional<MachineTurn> MachineTurn::wait_as(FileLock::Kind kind, bool tells) {
  const char* file = lock_file();
  if (file == nullptr) return MachineTurn(std::nullopt);
  const CountedWait counted;
  static bool had_one = false, told = false;
  if (had_one) std::this_thread::sleep_for(kCourtesy);
  const auto tell = [&] {
    if (tells && !told) write_note(fmt::format("waiting until {} (FLOPMARK_LOCK) is free", file));
    told = true;
  };
  std::optional<FileLock> lock =
      FileLock::wait(file, {[] { return InterruptGuard::signal() != 0; }, tell, kind});
  if (!lock) return std::nullopt;
  had_one = true;
  return MachineTurn(std::move(lock));
}

double MachineTurn::waited_s() {
  return all_waits.count();
}

LaunchOutcome interrupted_launch() {
  LaunchOutcome outcome;
  outcome.status = LaunchOutcome::Status::interrupted;
  outcome.signal = InterruptGuard::signal();
  return outcome;
}

}  // namespace flopmark
