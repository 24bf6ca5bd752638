#include "train/exchange_log.h"

#include <algorithm>
#include <utility>

#include "train/device_marker.h"

namespace flopmark {
namespace {

// The marks of a step: its begin and end, two per collective, two per wait; room for as many of these as of
// those.
constexpr size_t kStepBegin = 0, kStepEnd = 1, kOwnMarks = 2;
constexpr size_t kNotNoted = static_cast<size_t>(-1);

size_t begin_mark(int64_t collective) {
  return kOwnMarks + 2 * static_cast<size_t>(collective);
}

}  // namespace

ExchangeLog::ExchangeLog(const torch::Device& device) : marker_(make_marker(device, clock_)) {}

void ExchangeLog::reserve(int64_t steps, int64_t collectives) {
  collectives_ = static_cast<size_t>(collectives);
  steps_.assign(static_cast<size_t>(steps), Step{});
  next_ = 0;
  marker_->reserve(static_cast<size_t>(steps) * marks_per_step());
}

size_t ExchangeLog::mark_of(size_t step, size_t which) const {
  return step * marks_per_step() + which;
}

size_t ExchangeLog::marks_per_step() const {
  return kOwnMarks + 4 * collectives_;
}

size_t ExchangeLog::wait_mark(int64_t wait) const {
  return begin_mark(static_cast<int64_t>(collectives_) + wait);
}

void ExchangeLog::begin_step() {
  if (next_ >= steps_.size()) return;
  marker_->mark(mark_of(next_++, kStepBegin));
}

void ExchangeLog::end_step() {
  if (next_ == 0 || steps_[next_ - 1].ended) return;
  steps_[next_ - 1].ended = true;
  marker_->mark(mark_of(next_ - 1, kStepEnd));
}

size_t ExchangeLog::begin_collective(bool in_update) {
  if (next_ == 0) return kNotNoted;
  Step& step = steps_[next_ - 1];
  ++step.begun;
  if (step.noted >= static_cast<int64_t>(collectives_)) return kNotNoted;
  const size_t mark = mark_of(next_ - 1, begin_mark(step.noted++));
  if (!in_update) step.begun_in_backward = step.noted;
  marker_->mark(mark);
  return mark;
}

void ExchangeLog::end_collective(size_t collective) {
  if (collective != kNotNoted) marker_->mark(collective + 1);
}

void ExchangeLog::begin_wait() {
  if (next_ == 0) return;
  Step& step = steps_[next_ - 1];
  if (step.waits < static_cast<int64_t>(collectives_))
    marker_->mark(mark_of(next_ - 1, wait_mark(step.waits)));
}

void ExchangeLog::end_wait() {
  if (next_ == 0) return;
  Step& step = steps_[next_ - 1];
  if (step.waits >= static_cast<int64_t>(collectives_)) return;
  marker_->mark(mark_of(next_ - 1, wait_mark(step.waits++) + 1));
}

int64_t ExchangeLog::collectives_in_step() const {
  return next_ == 0 ? 0 : steps_[next_ - 1].begun;
}

/// The length of the union of the collectives' times.
double ExchangeLog::total_s(size_t step) const {
  std::vector<std::pair<double, double>> intervals;
  const size_t begin = mark_of(step, kStepBegin);
  for (int64_t i = 0; i < steps_[step].noted; ++i) {
    const size_t mark = mark_of(step, begin_mark(i));
    intervals.emplace_back(marker_->elapsed_s(begin, mark), marker_->elapsed_s(begin, mark + 1));
  }
  std::sort(intervals.begin(), intervals.end());
  double sum_s = 0, reached_s = 0;
  for (const auto& [from_s, to_s] : intervals) {
    sum_s += std::max(0.0, to_s - std::max(from_s, reached_s));
    reached_s = std::max(reached_s, to_s);
  }
  return sum_s;
}

/// In waits that began in this part of the step.
double ExchangeLog::waited_s(size_t step, double from_s, double to_s) const {
  const size_t begin = mark_of(step, kStepBegin);
  double sum_s = 0;
  for (int64_t i = 0; i < steps_[step].waits; ++i) {
    const size_t wait = mark_of(step, wait_mark(i));
    const double at_s = marker_->elapsed_s(begin, wait);
    if (at_s >= from_s && at_s < to_s) sum_s += marker_->elapsed_s(wait, wait + 1);
  }
  return sum_s;
}

/// When the last of these collectives ended, since the step's begin.
double ExchangeLog::end_s(size_t step, int64_t from, int64_t to) const {
  double last_s = 0;
  for (int64_t i = from; i < to; ++i) {
    last_s =
        std::max(last_s, marker_->elapsed_s(mark_of(step, kStepBegin), mark_of(step, begin_mark(i) + 1)));
  }
  return last_s;
}

double ExchangeLog::begin_s(size_t step, int64_t collective) const {
  return marker_->elapsed_s(mark_of(step, kStepBegin), mark_of(step, begin_mark(collective)));
}

/// Own work after the exchange of gradients, given the time of the update's collectives.
double ExchangeLog::after_backward_s(size_t step, double in_update_s) const {
  if (!steps_[step].ended) return 0;
  const double from_s = end_s(step, 0, steps_[step].begun_in_backward);
  const double to_s = marker_->elapsed_s(mark_of(step, kStepBegin), mark_of(step, kStepEnd));
  return std::max(0.0, to_s - from_s - in_update_s - waited_s(step, from_s, to_s));
}

ExchangeLog::Times ExchangeLog::read(int64_t steps) const {
  Times times;
  for (size_t i = 0; i < static_cast<size_t>(steps); ++i) {
    const Step step = i < steps_.size() ? steps_[i] : Step{};
    double compute_s = 0, in_backward_s = 0, in_update_s = 0;
    if (step.noted > step.begun_in_backward) {
      in_update_s =
          std::max(0.0, end_s(i, step.begun_in_backward, step.noted) - begin_s(i, step.begun_in_backward));
    }
    if (const int64_t in_backward = step.begun_in_backward; in_backward > 0) {
      const double last_s = begin_s(i, in_backward - 1), waits_s = waited_s(i, 0, last_s);
      compute_s = std::max(0.0, last_s - waits_s) + after_backward_s(i, in_update_s);
      in_backward_s = std::max(0.0, end_s(i, 0, in_backward) - last_s) + waits_s;
    }
    times.compute_s.push_back(compute_s);
    times.in_backward_s.push_back(in_backward_s);
    times.in_update_s.push_back(in_update_s);
    times.total_s.push_back(step.noted > 0 ? total_s(i) : 0.0);
  }
  return times;
}

}  // namespace flopmark
