#include "launch/worker_watch.h"

#include <poll.h>

#include <algorithm>
#include <array>

#include "launch/printable_text.h"

namespace flopmark {
namespace {

using Steady = std::chrono::steady_clock;

// Per turn of the loop, so that a flood of output cannot keep the loop from its deadlines.
constexpr size_t kReadLimitBytes = 65536;
// A pipe holds 64 KiB unless somebody enlarged it; more than this is a process that goes on writing.
constexpr size_t kDrainLimitBytes = 1048576;
constexpr size_t kFirstLineBytes = 200;
constexpr std::chrono::seconds kLongestWait{60};
constexpr std::chrono::milliseconds kWaitWithoutPidfd{20};
// Silence is counted in waits of at most so long: a process that was stopped itself must not blame its
// worker.
constexpr std::chrono::milliseconds kLongestSilence{1000};

/// `from` plus `seconds`, without overflow for "for ever".
Steady::time_point after(Steady::time_point from, std::chrono::duration<double> seconds) {
  constexpr double kYearS = 366.0 * 86400;
  const double bounded = seconds.count() > 0 ? std::min(seconds.count(), 100 * kYearS) : 0;
  return from + std::chrono::duration_cast<Steady::duration>(std::chrono::duration<double>(bounded));
}

int milliseconds_until(Steady::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Steady::now());
  return static_cast<int>(
      std::clamp<int64_t>(left.count(), 0, std::chrono::milliseconds(kLongestWait).count()));
}

}  // namespace

WorkerWatch::WorkerWatch(WorkerProcess& process, SignalWatch& signals, const WatchLimits& limits,
                         ProgressSink& sink)
    : process_(process),
      signals_(signals),
      sink_(sink),
      limits_(limits),
      timeout_at_(after(Steady::now(), limits.timeout)),
      greeting_at_(after(Steady::now(), limits.greeting)),
      end_at_(timeout_at_) {}

WatchLimits limits_of(const LaunchRequest& request) {
  return {.timeout = request.timeout, .greeting = request.greeting, .stop_grace = request.stop_grace};
}

WorkerEnd WorkerWatch::run() {
  WorkerWatch* const self = this;
  while (!is_over()) wait({&self, 1});
  return finish();
}

WorkerEnd WorkerWatch::finish() {
  end_.status = process_.finish();
  drain();
  end_.log = log_.lines();
  return end_;
}

/// What has not greeted is not under the run's own limit yet: that would call a wrong program a slow run.
WorkerWatch::Time WorkerWatch::deadline() const {
  if (!end_.greeted && end_.interrupt == 0 && !end_.dismissed) return std::min(greeting_at_, leaves_at_);
  return std::min(resting_since_ ? Time::max() : end_at_, leaves_at_);
}

bool WorkerWatch::is_over() {
  if (process_.ended()) return true;
  end_.fell_silent = !kill_now_ && is_silent();
  if (!kill_now_ && !end_.fell_silent && Steady::now() < deadline()) return false;
  end_.killed_by_us = true;
  end_.timed_out = !kill_now_ && !end_.fell_silent && end_at_ == timeout_at_ && Steady::now() < leaves_at_;
  return true;
}

void WorkerWatch::wait(std::span<WorkerWatch* const> watches) {
  SignalWatch& signals = watches.front()->signals_;
  std::vector<pollfd> watched = {{signals.fd(), POLLIN, 0}};
  int wait_ms = milliseconds_until(Steady::time_point::max());
  for (const WorkerWatch* watch : watches) {
    // A negative descriptor is left out by poll.
    for (const int fd :
         {watch->process_.end().get(), watch->process_.progress().get(), watch->process_.log().get()}) {
      watched.push_back({fd, POLLIN, 0});
    }
    wait_ms = std::min(wait_ms, milliseconds_until(watch->deadline()));
    if (watch->limits_.silence) wait_ms = std::min(wait_ms, static_cast<int>(kLongestSilence.count()));
    if (!watch->process_.end()) wait_ms = std::min(wait_ms, static_cast<int>(kWaitWithoutPidfd.count()));
  }
  const Steady::time_point begun = Steady::now();
  // An interrupted or failed poll only means one more turn.
  ::poll(watched.data(), watched.size(), wait_ms);
  const Steady::duration waited = Steady::now() - begun;

  for (const int signal : signals.take()) {
    bool is_first = false;
    for (WorkerWatch* watch : watches) is_first = watch->take_signal(signal) || is_first;
    const WorkerWatch& first = *watches.front();
    if (is_first) first.sink_.stopping(/*after_step=*/!first.limits_.killed_by_signal);
  }
  for (WorkerWatch* watch : watches) {
    watch->note_silence(watch->take_progress(), waited);
    watch->take_log();
  }
}

void WorkerWatch::note_silence(size_t bytes, Steady::duration waited) {
  silent_ = bytes > 0 || resting_since_ ? Steady::duration::zero()
                                        : silent_ + std::min<Steady::duration>(waited, kLongestSilence);
}

bool WorkerWatch::is_silent() const {
  return limits_.silence && end_.greeted && silent_ >= *limits_.silence;
}

/// @returns whether it is the first.
bool WorkerWatch::take_signal(int signal) {
  if (end_.interrupt != 0) {
    kill_now_ = kill_now_ || Steady::now() - interrupted_at_ >= limits_.same_signal;
    return false;
  }
  end_.interrupt = signal;
  interrupted_at_ = Steady::now();
  stop_within_grace();
  return true;
}

void WorkerWatch::stop_within_grace() {
  process_.send(format_control_line({ControlLine::Kind::stop}));  // killed after the grace if it is deaf
  end_within_grace();
}

void WorkerWatch::end_within_grace() {
  wake();
  end_at_ = std::min(end_at_, after(Steady::now(), limits_.stop_grace));
}

void WorkerWatch::rest() {
  if (!resting_since_) resting_since_ = Steady::now();
}

void WorkerWatch::wake() {
  if (!resting_since_) return;
  const Steady::duration rested = Steady::now() - *std::exchange(resting_since_, std::nullopt);
  timeout_at_ += rested;
  end_at_ += rested;
}

void WorkerWatch::order(const ControlLine& line, const ProgressUpdate& place) {
  wake();
  turn_.reset();
  end_.last = place;
  process_.send(format_control_line(line));
}

void WorkerWatch::dismiss() {
  end_.dismissed = true;
  stop_within_grace();
}

void WorkerWatch::fail(const Failure& failure) {
  if (!end_.failure) end_.failure = failure;
  kill_now_ = true;
}

void WorkerWatch::end_within(std::chrono::duration<double> grace) {
  leaves_at_ = std::min(leaves_at_, after(Steady::now(), grace));
}

size_t WorkerWatch::take_progress() {
  if (!process_.progress()) return 0;
  const ReadResult read = read_available(process_.progress(), kReadLimitBytes);
  lines_.add(read.bytes, [this](const std::string& line) { take_line(line); });
  if (read.ended) process_.progress().close();
  return read.bytes.size();
}

size_t WorkerWatch::take_log() {
  if (!process_.log()) return 0;
  const ReadResult read = read_available(process_.log(), kReadLimitBytes);
  log_.add(read.bytes);
  if (read.ended) process_.log().close();
  return read.bytes.size();
}

void WorkerWatch::take_line(const std::string& line) {
  if (end_.first_line) return;
  const WorkerLine parsed = parse_worker_line(line);
  const auto* hello = std::get_if<WorkerHello>(&parsed);
  if (!end_.greeted && (hello == nullptr || hello->protocol != kWorkerProtocol)) {
    end_.first_line = printable_text(line, kFirstLineBytes);
    kill_now_ = true;
    return;
  }
  std::visit([this](const auto& known) { take(known); }, parsed);
}

void WorkerWatch::take(const WorkerHello&) {
  end_.greeted = true;
}

void WorkerWatch::take(const ProgressUpdate& update) {
  end_.last = update;
  sink_.progress(update);
}

void WorkerWatch::take(const TurnSamples& turn) {
  if (turn_ || resting_since_) {
    fail({"error", end_.last.phase, std::nullopt, "worker took a turn that was not its own"});
  }
  turn_ = turn;
}

void WorkerWatch::take(const Failure& failure) {
  if (!end_.failure) end_.failure = failure;
  end_within_grace();
}

void WorkerWatch::take(const WorkerError& error) {
  if (!end_.error) end_.error = error;
  end_within_grace();
}

void WorkerWatch::take(const NotUnderstood&) {
  ++end_.not_understood;
}

/// What the worker wrote last may still lie in the pipes when it has ended.
void WorkerWatch::drain() {
  size_t taken = 0;
  while (const size_t bytes = taken < kDrainLimitBytes ? take_progress() : 0) taken += bytes;
  lines_.finish([this](const std::string& line) { take_line(line); });
  taken = 0;
  while (const size_t bytes = taken < kDrainLimitBytes ? take_log() : 0) taken += bytes;
}

}  // namespace flopmark
