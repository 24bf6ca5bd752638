#include "worker/exit_watch.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "plugin/plugin_crash.h"
#include "worker/describe_failure.h"

namespace flopmark {
namespace {

/// What exit() calls has no arguments.
std::atomic<Channel*> watching{nullptr};
const LoopState* watched_state = nullptr;

void on_exit() {
  Channel* const channel = watching.exchange(nullptr);
  if (channel == nullptr) return;
  std::string text = exit_of_call();
  if (text.empty()) text = "the model, the data or a library called exit(), which ends the process";
  channel->report_failure(failure_at(*watched_state, "error", text));
  std::fflush(nullptr);
  ::_exit(kWorkerSentFailure);  // other threads are at work: nothing that they use is taken from them
}

}  // namespace

ExitWatch::ExitWatch(Channel& channel, const LoopState& state) {
  [[maybe_unused]] static const int registered = std::atexit(on_exit);
  watched_state = &state;
  watching = &channel;
}

ExitWatch::~ExitWatch() {
  watching = nullptr;
}

}  // namespace flopmark
