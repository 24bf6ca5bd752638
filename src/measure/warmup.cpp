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

enum class End { none, steady, steps, seconds };

End end_of_warmup(const WarmupDetector& detector, const WarmupOptions& options, int64_t steps,
                  double elapsed_s) {
  if (steps < options.min_steps || elapsed_s < options.min_s) {
    return End::none;
  }
  if (detector.steady()) {
    return End::steady;
  }
  if (steps >= options.max_steps) {
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
    end = end_of_warmup(detector, options, number, elapsed_s());
  }

  samples.steady = end != End::none && detector.steady_so_far();
  samples.reason = end == End::none ? "not steady: stopped from outside after " +
                                          counted(std::ssize(samples.step_s), "step")
                                    : detector.reason();
  if (end == End::seconds) {
    samples.reason += fmt::format("; ended by the time limit of {:g} s", options.max_s);
  }
  return samples;
}

}  // namespace flopmark
