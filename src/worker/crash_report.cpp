#include <csignal>
#include <initializer_list>

#include <unistd.h>

#include "launch/protocol.h"
#include "worker/channel.h"

namespace flopmark {
namespace {

// A signal handler reaches its data through globals only.
volatile sig_atomic_t crash_fd = -1;
const LoopState* crash_state = nullptr;

void on_crash(int signal) {
  char line[256];
  const size_t length =
      format_crash_line(line, sizeof line, stage_name(crash_state->stage.load()), crash_state->step.load());
  [[maybe_unused]] const ssize_t written = ::write(crash_fd, line, length);
  ::raise(signal);  // SA_RESETHAND: the default action ends the process
}

}  // namespace

void report_crashes(int fd, const LoopState& state) {
  crash_fd = fd;
  crash_state = &state;
  static char stack[65536];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  ::sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_handler = on_crash;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_ONSTACK | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace flopmark
