#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "launch/control_line.h"
#include "launch/launch.h"
#include "launch/line_splitter.h"
#include "launch/protocol.h"
#include "launch/signal_watch.h"
#include "launch/worker_process.h"

namespace flopmark {

/// How a launch went, as bare facts; judge_end makes the outcome of it.
struct WorkerEnd {
  ExitStatus status;
  bool killed_by_us = false;  ///< it was still running when its time was up
  bool timed_out = false;
  bool fell_silent = false;               ///< killed for that: see WatchLimits
  bool dismissed = false;                 ///< asked to stop for no fault of its own, and not by a signal
  int interrupt = 0;                      ///< the first signal this process got meanwhile, 0 if none
  std::optional<std::string> first_line;  ///< if it was not the hello of this protocol: what it was
  bool greeted = false;                   ///< the first line was the hello of this protocol
  ProgressUpdate last{"load", 0, 0, 0};   ///< where it was; a worker starts by loading
  std::optional<Failure> failure;         ///< the first it reported
  std::optional<WorkerError> error;       ///< the first it reported
  std::vector<std::string> log;           ///< its last lines
  int64_t not_understood = 0;             ///< progress lines that made no sense
};

struct WatchLimits {
  std::chrono::duration<double> timeout{3600};
  std::chrono::duration<double> greeting{60};  ///< to its first line
  std::chrono::duration<double> stop_grace{
      5};  ///< to end by itself once asked to stop, or once it reported an end
  /// Of a worker that has greeted: killed once nothing was heard of it for so long, though it says twice a
  /// second where it is. Absent: it may be silent.
  std::optional<std::chrono::duration<double>> silence = {};
  /// A terminal and a launcher may both forward one Ctrl-C: only a signal later than this means "at once".
  std::chrono::duration<double> same_signal{0.2};
  bool killed_by_signal = false;  ///< whoever waits kills it at the first signal; said to the sink only
};

WatchLimits limits_of(const LaunchRequest& request);

/// Follows one worker from its start to its end: the only place that waits.
class WorkerWatch {
 public:
  WorkerWatch(WorkerProcess& process, SignalWatch& signals, const WatchLimits& limits, ProgressSink& sink);
  /// Returns when the worker and its group are gone, at the latest after the timeout and the time a kill
  /// takes.
  WorkerEnd run();

  // The same in pieces, for several workers at a time.

  /// Waits until something happens to one of `watches` (not empty, none of them over) or its time is up, and
  /// takes it in. They share one SignalWatch; a signal is for all of them.
  static void wait(std::span<WorkerWatch* const> watches);
  /// Whether the worker has ended or must.
  bool is_over();
  /// Kills what is left and says how it went.
  WorkerEnd finish();

  /// How it goes so far; status and log come with finish().
  const WorkerEnd& so_far() const { return end_; }
  const std::optional<WorkerReady>& ready() const { return ready_; }
  /// The last turn line that nobody has taken.
  std::optional<TurnSamples> take_turn() { return std::exchange(turn_, std::nullopt); }
  /// Its time stands still until the next order: it waits.
  void rest();
  /// Writes to the control pipe; `place` is where it goes to now. A worker that does not read is found to be
  /// over.
  void order(const ControlLine& line, const ProgressUpdate& place);
  void move_to(const ProgressUpdate& place) { end_.last = place; }
  /// Asks it to stop because of another; killed after the grace.
  void dismiss();
  /// It broke the protocol: killed at once.
  void fail(const Failure& failure);
  /// Another of its job has ended badly: it has so long to end by itself, then it is killed.
  void end_within(std::chrono::duration<double> grace);
  /// Killed at once, for no fault of its own.
  void kill() { kill_now_ = true; }

 private:
  using Time = std::chrono::steady_clock::time_point;

  bool take_signal(int signal);
  size_t take_progress();
  size_t take_log();
  void note_silence(size_t bytes, std::chrono::steady_clock::duration waited);
  bool is_silent() const;
  void take_line(const std::string& line);
  void take(const WorkerHello& hello);
  void take(const ProgressUpdate& update);
  void take(const WorkerReady& ready) { ready_ = ready; }
  void take(const TurnSamples& turn);
  void take(const Failure& failure);
  void take(const WorkerError& error);
  void take(const NotUnderstood& line);
  void wake();
  void stop_within_grace();
  void end_within_grace();
  Time deadline() const;
  void drain();

  WorkerProcess& process_;
  SignalWatch& signals_;
  ProgressSink& sink_;
  WatchLimits limits_;
  Time timeout_at_, greeting_at_, end_at_, interrupted_at_;
  Time leaves_at_ = Time::max();  ///< when it must be gone because of another
  std::optional<Time> resting_since_;
  std::chrono::steady_clock::duration silent_{0};
  bool kill_now_ = false;
  LineSplitter lines_{kWorkerLineLimitBytes};
  LogTail log_;
  WorkerEnd end_;
  std::optional<WorkerReady> ready_;
  std::optional<TurnSamples> turn_;
};

}  // namespace flopmark
