#include "measure/condition_sampler.h"

#include <algorithm>

namespace flopmark {

ConditionSampler::ConditionSampler(const ConditionSources& sources, std::chrono::milliseconds period)
    : log_(sources), period_(std::max<std::chrono::milliseconds>(period, kLeastPeriod)) {}

ConditionSampler::~ConditionSampler() {
  stop();
}

void ConditionSampler::start() {
  stop();
  ending_ = false;
  log_.begin();
  thread_ = std::thread([this] { run(); });
}

Conditions ConditionSampler::finish(int64_t steps) {
  if (!thread_.joinable()) {
    return {};
  }
  stop();
  return log_.end(steps);
}

void ConditionSampler::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, period_, [this] { return ending_; })) {
    if (log_.take()) {
      period_ *= 2;
    }
  }
}

void ConditionSampler::stop() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

}  // namespace flopmark
