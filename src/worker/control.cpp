#include <cerrno>
#include <csignal>
#include <string>
#include <thread>

#include <sys/prctl.h>
#include <unistd.h>

#include "flopmark/error.h"
#include "worker/channel.h"

namespace flopmark {
namespace {

/// Reads the control pipe until it ends.
void watch(LoopState& state) {
  std::string pending;
  char buffer[256];
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      ::kill(0, SIGKILL);  // the process group: whatever a user's model has started goes too
      ::_exit(static_cast<int>(ExitCode::cannot_judge));
    }
    pending.append(buffer, static_cast<size_t>(count));
    if (pending.find("stop\n") != std::string::npos) {
      state.stop.store(true);
      pending.clear();
    }
    if (pending.size() > 4096) {
      pending.clear();
    }
  }
}

}  // namespace

void follow_front_end(LoopState& state) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::thread(watch, std::ref(state)).detach();
}

}  // namespace flopmark
