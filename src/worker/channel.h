#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "flopmark/error.h"
#include "flopmark/record.h"
#include "launch/protocol.h"
#include "measure/step_loop.h"

namespace flopmark {

/// The worker's end of the progress pipe: the hello line, where the launch is (at most twice a second,
/// written by a thread of its own, so that the timed thread only stores into LoopState), and the last word.
class Channel {
 public:
  /// Writes the protocol line. `fd` stays the caller's; `samples_per_step` gives the rate, 0 until known.
  Channel(int fd, const LoopState& state);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  void set_samples_per_step(int64_t samples);
  /// While quiet, its thread sleeps and writes nothing.
  void set_quiet(bool quiet);
  /// Writes where the launch is, now.
  void report_stage();
  void report_ready(const WorkerReady& ready);
  void report_turn(const TurnSamples& turn);
  void report_failure(const Failure& failure);
  void report_error(ExitCode code, const std::string& text);

 private:
  void run();
  void report_progress();
  void write_line(const std::string& line);

  const int fd_;
  const LoopState& state_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false, quiet_ = false;
  int64_t samples_per_step_ = 0;
  int64_t last_step_ = 0;
  LoopState::Stage last_stage_ = LoopState::Stage::load;
  int64_t last_ns_ = 0;
  std::thread thread_;
};

/// From now on a fatal signal (SEGV, BUS, FPE, ILL, ABRT) writes a failure line with stage and step to `fd`
/// before the process ends by that signal. Async-signal-safe; once per process.
void report_crashes(int fd, const LoopState& state);

}  // namespace flopmark
