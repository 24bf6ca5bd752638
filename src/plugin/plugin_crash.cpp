#include "plugin/plugin_crash.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

namespace flopmark {
namespace {

constexpr std::array<int, 5> kCrashes = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/// A signal handler reaches its data through globals only. It runs in the thread that crashed.
thread_local const CallTexts* texts_of_call = nullptr;
std::array<struct sigaction, kCrashes.size()> actions_before;

/// Async-signal-safe, as what it gives way to.
void on_crash(int signal) {
  if (texts_of_call != nullptr) {
    const std::string& line = texts_of_call->crash_line;
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  }
  for (size_t i = 0; i < kCrashes.size(); ++i) {
    if (kCrashes[i] == signal) ::sigaction(signal, &actions_before[i], nullptr);
  }
  ::raise(signal);  // SA_NODEFER: before this returns to what crashed
}

/// Once, before the first call of a plug-in.
bool watch_crashes() {
  struct sigaction action {};
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (size_t i = 0; i < kCrashes.size(); ++i) ::sigaction(kCrashes[i], &action, &actions_before[i]);
  return true;
}

}  // namespace

CrashNote::CrashNote(const CallTexts& texts) : before_(std::exchange(texts_of_call, &texts)) {
  [[maybe_unused]] static const bool watched = watch_crashes();
}

CrashNote::~CrashNote() {
  texts_of_call = before_;
}

std::string exit_of_call() {
  return texts_of_call == nullptr ? "" : texts_of_call->exit_text;
}

}  // namespace flopmark
