#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "flopmark/counted.h"
#include "measure/step_loop.h"
#include "measure/warmup_detector.h"

namespace flopmark {
namespace {

/// One step from an idle device to an idle device, in seconds of the host clock.
double time_one_step(TrainingStep& step, Marker& marker, Clock& clock, int64_t micro_batches) {
  marker.synchronize();
  const int64_t start_ns = clock.now_ns();
  for (int64_t micro_batch = 0; micro_batch < micro_batches; ++micro_batch) {
    step.next_batch();
    step.transfer();
    step.forward();
    step.backward();
  }
  step.update();
  marker.synchronize();
  return static_cast<double>(clock.now_ns() - start_ns) * 1e-9;
}

/// The step's loss; the block is closed after each step so that a NaN ends the run at once.
void check_loss(const BlockFacts& facts, int64_t number) {
  for (const double loss : facts.losses) {
    if (!std::isfinite(loss)) {
      throw NanLoss(LoopState::Stage::warmup, number, loss);
    }
  }
}

/// Follows the temperature between steps, as far as there is a thermometer that answers.
class WarmupTemperature {
 public:
  explicit WarmupTemperature(Thermometer* thermometer) : thermometer_(thermometer) {}

  void read_at(double time_s) {
    constexpr double kInterval_s = 0.5;  // a reading may take a millisecond
    if (thermometer_ == nullptr || time_s < next_s_) {
      return;
    }
    next_s_ = time_s + kInterval_s;
    const auto temperature_c = thermometer_->temperature_c();
    known_ = temperature_c.has_value();
    if (known_) {
      watch_.add(time_s, *temperature_c);
    }
  }
  bool settled() const { return !known_ || watch_.settled(); }
  /// Why the warm-up is not over, given what the step time says.
  std::string reason(const std::string& of_step_time) const {
    const auto movement_c = watch_.movement_c();
    const std::string what = movement_c ? fmt::format("moved by {:+.1f} C in", *movement_c)
                                        : std::string("could not be followed for");
    return fmt::format("not steady: the temperature {} the last {:g} s; step time {}", what,
                       TemperatureWatch::kWindow_s, of_step_time);
  }

 private:
  Thermometer* thermometer_;
  TemperatureWatch watch_;
  bool known_ = false;
  double next_s_ = 0;
};

enum class End { none, steady, steps, seconds };

End end_of_warmup(const WarmupDetector& detector, const WarmupTemperature& temperature,
                  const WarmupOptions& options, int64_t steps, double elapsed_s) {
  if (steps < options.min_steps || elapsed_s < options.min_s) {
    return End::none;
  }
  if (detector.steady() && temperature.settled()) {
    return End::steady;
  }
  if (steps >= options.max_steps && temperature.settled()) {
    return End::steps;
  }
  return elapsed_s >= options.max_s ? End::seconds : End::none;
}

}  // namespace

WarmupSamples run_warmup(TrainingStep& step, Marker& marker, Clock& clock, const WarmupOptions& options,
                         LoopState& state) {
  state.step = 0;
  state.steps = 0;
  state.stage = LoopState::Stage::warmup;
  WarmupDetector detector(options.min_steps, options.max_steps);
  WarmupTemperature temperature(options.thermometer);
  WarmupSamples samples;
  const int64_t start_ns = clock.now_ns();
  const auto elapsed_s = [&] { return static_cast<double>(clock.now_ns() - start_ns) * 1e-9; };

  End end = options.max_steps < 1 && options.min_steps < 1 ? End::steps : End::none;
  while (end == End::none && !state.stop) {
    const auto number = static_cast<int64_t>(samples.step_s.size()) + 1;
    state.step = number;
    step.begin_block(1);
    samples.step_s.push_back(time_one_step(step, marker, clock, options.micro_batches));
    check_loss(step.end_block(), number);
    detector.add(samples.step_s.back());
    const double now_s = elapsed_s();
    temperature.read_at(now_s);
    end = end_of_warmup(detector, temperature, options, number, now_s);
    if (options.all_agree && !options.all_agree(end != End::none)) end = End::none;
  }

  samples.steady = end != End::none && detector.steady_so_far() && temperature.settled();
  samples.reason = end == End::none ? "not steady: stopped from outside after " +
                                          counted(std::ssize(samples.step_s), "step")
                                    : detector.reason();
  if (end != End::none && !temperature.settled()) {
    samples.reason = temperature.reason(samples.reason);
  }
  if (end == End::seconds) {
    samples.reason += fmt::format("; ended by the time limit of {:g} s", options.max_s);
  }
  return samples;
}

}  // namespace flopmark
