#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "measure/condition_log.h"

namespace flopmark {

/// Samples conditions beside the timed thread, in a thread of its own: start() before the timed steps,
/// finish() after them. Nothing in between is called, allocated or locked by the timed thread.
class ConditionSampler {
 public:
  /// At most ten samples a second.
  static constexpr auto kLeastPeriod = std::chrono::milliseconds(100);

  ConditionSampler(const ConditionSources& sources, std::chrono::milliseconds period);
  ~ConditionSampler();
  ConditionSampler(const ConditionSampler&) = delete;
  ConditionSampler& operator=(const ConditionSampler&) = delete;

  void start();
  /// Ends the thread and sums up. Without start(): no conditions.
  Conditions finish(int64_t steps);

 private:
  void run();
  void stop();

  ConditionLog log_;
  std::chrono::milliseconds period_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace flopmark
