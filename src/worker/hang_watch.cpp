#include "worker/hang_watch.h"

#include <algorithm>
#include <utility>

namespace flopmark {
namespace {

using Steady = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr Seconds kLongestLook{1};

/// Whether a launch still is where it was, and since when.
class Standstill {
 public:
  explicit Standstill(const LoopState& state) : state_(state) {}

  Seconds lasts() {
    const std::pair now{state_.stage.load(), state_.step.load()};
    if (now != place_) since_ = Steady::now();
    place_ = now;
    return Steady::now() - since_;
  }

 private:
  const LoopState& state_;
  std::pair<LoopState::Stage, int64_t> place_{LoopState::Stage::load, -1};
  Steady::time_point since_ = Steady::now();
};

}  // namespace

HangWatch::HangWatch(const LoopState& state, Options options)
    : state_(state), options_(std::move(options)), thread_([this] { run(); }) {}

HangWatch::~HangWatch() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void HangWatch::run() {
  Standstill standstill(state_);
  while (!ends_within(std::min(kLongestLook, options_.patience / 4))) {
    if (standstill.lasts() < options_.patience) continue;
    if (!options_.given_up()) continue;
    if (ends_within(options_.grace)) return;
    if (standstill.lasts() < options_.patience) continue;
    if (const auto failure = options_.given_up()) options_.leave(*failure);  // by now all others have spoken
  }
}

bool HangWatch::ends_within(std::chrono::duration<double> time) {
  std::unique_lock lock(mutex_);
  return wake_.wait_for(lock, time, [this] { return ending_; });
}

}  // namespace flopmark
