#include "worker/control.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <thread>

#include "flopmark/error.h"
#include "launch/line_splitter.h"

namespace flopmark {
namespace {

constexpr size_t kLineLimitBytes = 256;

/// Reads the control pipe until it ends.
void watch(LoopState& state, Orders& orders) {
  LineSplitter lines(kLineLimitBytes);
  const auto obey = [&](const std::string& line) {
    const auto order = parse_control_line(line);
    if (!order) return;
    if (order->kind == ControlLine::Kind::stop) state.stop.store(true);
    orders.give(*order);
  };
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
    lines.add(std::string_view(buffer, static_cast<size_t>(count)), obey);
  }
}

}  // namespace

void Orders::give(const ControlLine& order) {
  {
    const std::lock_guard lock(mutex_);
    orders_.push_back(order);
  }
  given_.notify_one();
}

ControlLine Orders::wait() {
  std::unique_lock lock(mutex_);
  given_.wait(lock, [this] { return !orders_.empty(); });
  const ControlLine order = orders_.front();
  orders_.pop_front();
  return order;
}

void follow_front_end(LoopState& state, Orders& orders) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::thread(watch, std::ref(state), std::ref(orders)).detach();
}

}  // namespace flopmark
