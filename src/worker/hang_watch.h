#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "flopmark/record.h"
#include "measure/step_loop.h"

namespace flopmark {

/// Ends a rank that hangs in code of its own, where no collective's limit finds it, once the others have
/// given it up. A thread that wakes once a second; it asks only when stage and step have stood still for
/// `patience`, so that a job that gets on is not disturbed.
class HangWatch {
 public:
  struct Options {
    std::chrono::duration<double> patience{60};
    /// From `given_up` to `leave`: whoever waits in a collective learns of its end there, and is left alone.
    std::chrono::duration<double> grace{3};
    /// What the standstill is, if the job is lost; asked before the grace and after it.
    std::function<std::optional<Failure>()> given_up;
    std::function<void(const Failure&)> leave;  ///< ends the process
  };
  /// `state` outlives it. Both functions are called from its thread.
  HangWatch(const LoopState& state, Options options);
  ~HangWatch();
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;

 private:
  void run();
  bool ends_within(std::chrono::duration<double> time);

  const LoopState& state_;
  const Options options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace flopmark
