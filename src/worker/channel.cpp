#include "worker/channel.h"

#include <chrono>

#include <unistd.h>

namespace flopmark {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(500);

int64_t steady_ns() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

}  // namespace

Channel::Channel(int fd, const LoopState& state) : fd_(fd), state_(state), last_ns_(steady_ns()) {
  write_line(format_hello());
  report_stage();
  thread_ = std::thread([this] { run(); });
}

Channel::~Channel() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Channel::set_samples_per_step(int64_t samples) {
  const std::lock_guard lock(mutex_);
  samples_per_step_ = samples;
}

void Channel::report_stage() {
  const std::lock_guard lock(mutex_);
  report_progress();
}

void Channel::set_quiet(bool quiet) {
  {
    const std::lock_guard lock(mutex_);
    quiet_ = quiet;
  }
  wake_.notify_all();
}

void Channel::report_ready(const WorkerReady& ready) {
  const std::lock_guard lock(mutex_);
  write_line(format_ready(ready));
}

void Channel::report_turn(const TurnSamples& turn) {
  const std::lock_guard lock(mutex_);
  write_line(format_turn(turn));
}

void Channel::report_failure(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  write_line(format_failure(failure));
}

void Channel::report_error(ExitCode code, const std::string& text) {
  const std::lock_guard lock(mutex_);
  write_line(format_worker_error({.code = code, .text = text}));
}

void Channel::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (quiet_) {
      wake_.wait(lock, [this] { return ending_ || !quiet_; });
    } else if (!wake_.wait_for(lock, kInterval, [this] { return ending_ || quiet_; })) {
      report_progress();
    }
  }
}

void Channel::report_progress() {
  const LoopState::Stage stage = state_.stage.load();
  const int64_t step = state_.step.load();
  const int64_t now_ns = steady_ns();
  const bool same_stage = stage == last_stage_ && step > last_step_;
  const double rate = same_stage ? static_cast<double>((step - last_step_) * samples_per_step_) /
                                       (static_cast<double>(now_ns - last_ns_) * 1e-9)
                                 : 0.0;
  write_line(format_progress(
      {.phase = stage_name(stage), .step = step, .steps = state_.steps.load(), .samples_per_s = rate}));
  last_stage_ = stage;
  last_step_ = step;
  last_ns_ = now_ns;
}

void Channel::write_line(const std::string& line) {
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t count = ::write(fd_, line.data() + done, line.size() - done);
    if (count <= 0) {
      return;  // the front-end is gone; the control pipe ends this process
    }
    done += static_cast<size_t>(count);
  }
}

}  // namespace flopmark
