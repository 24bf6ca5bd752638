#include "measure/step_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace flopmark {
namespace {

constexpr size_t kMarksPerMicroBatch = 4;  // after next_batch, transfer, forward, backward

/// Marks of one step: its begin, four per micro-batch, and the end of update.
size_t marks_per_step(size_t micro_batches) {
  return 2 + kMarksPerMicroBatch * micro_batches;
}

struct TimedRegion {
  int64_t steps = 0;
  double wall_s = 0;
};

/// The one place where time is taken. Marks are laid down in order, so that every phase lies between two
/// neighbours.
TimedRegion run_timed_region(TrainingStep& step, Marker& marker, Clock& clock, const BlockOptions& options,
                             LoopState& state) {
  int64_t done = 0;
  size_t next_mark = 0;
  marker.synchronize();
  // --- timed region: begin ---
  const int64_t start_ns = clock.now_ns();
  while (done < options.steps && !state.stop.load(std::memory_order_relaxed)) {
    state.step.store(options.steps_before + done + 1, std::memory_order_relaxed);
    marker.mark(next_mark++);
    for (int64_t micro_batch = 0; micro_batch < options.micro_batches; ++micro_batch) {
      step.next_batch();
      marker.mark(next_mark++);
      step.transfer();
      marker.mark(next_mark++);
      step.forward();
      marker.mark(next_mark++);
      step.backward();
      marker.mark(next_mark++);
    }
    step.update();
    marker.mark(next_mark++);
    ++done;
  }
  marker.synchronize();
  const int64_t end_ns = clock.now_ns();
  // --- timed region: end ---
  return {done, static_cast<double>(end_ns - start_ns) * 1e-9};
}

std::vector<double>& phase_of(BlockSamples& samples, Phase phase) {
  return samples.phase_s[static_cast<size_t>(phase)];
}

/// Moves what the exchange between ranks added from the phases it lies in to its own. Without an exchange
/// that phase stays empty.
void take_exchange_out(const BlockFacts& facts, BlockSamples& samples) {
  const auto move = [&](const std::vector<double>& exchange_s, Phase from) {
    for (size_t i = 0; i < exchange_s.size(); ++i) {
      double& rest_s = phase_of(samples, from).at(i);
      const double part_s = std::clamp(exchange_s[i], 0.0, rest_s);
      rest_s -= part_s;
      phase_of(samples, Phase::communication).at(i) += part_s;
    }
  };
  if (facts.exchange_in_backward_s.empty() && facts.exchange_in_update_s.empty()) return;
  phase_of(samples, Phase::communication).assign(static_cast<size_t>(samples.steps), 0.0);
  move(facts.exchange_in_backward_s, Phase::backward);
  move(facts.exchange_in_update_s, Phase::optimizer);
}

/// Reads one step's marks: `begin` is its first; the step ends where the next begins, the last at its own
/// last mark.
void read_step(const Marker& marker, size_t begin, size_t micro_batches, bool is_last,
               BlockSamples& samples) {
  const size_t last = begin + marks_per_step(micro_batches) - 1;
  const size_t end = is_last ? last : last + 1;
  double data_s = 0, transfer_s = 0, forward_s = 0, backward_s = 0;
  for (size_t mark = begin; mark + 1 < last; mark += kMarksPerMicroBatch) {
    data_s += marker.elapsed_s(mark, mark + 1);
    transfer_s += marker.elapsed_s(mark + 1, mark + 2);
    forward_s += marker.elapsed_s(mark + 2, mark + 3);
    backward_s += marker.elapsed_s(mark + 3, mark + 4);
  }
  phase_of(samples, Phase::data).push_back(data_s);
  phase_of(samples, Phase::transfer).push_back(transfer_s);
  phase_of(samples, Phase::forward).push_back(forward_s);
  phase_of(samples, Phase::backward).push_back(backward_s);
  phase_of(samples, Phase::optimizer).push_back(marker.elapsed_s(last - 1, last));
  phase_of(samples, Phase::other).push_back(is_last ? 0.0 : marker.elapsed_s(last, end));
  samples.step_s.push_back(marker.elapsed_s(begin, end));
}

void take_facts(const BlockFacts& facts, BlockSamples& samples) {
  if (facts.losses.size() != static_cast<size_t>(samples.steps)) {
    throw std::logic_error(
        fmt::format("the training step reported {} losses for {} steps: please report this fault",
                    facts.losses.size(), samples.steps));
  }
  samples.samples = facts.samples;
  samples.tokens = facts.tokens;
  samples.images = facts.images;
  samples.data_wait_host_s = facts.data_wait_host_s;
  samples.losses = facts.losses;
  samples.skipped_steps = facts.skipped_steps;
}

void require_finite(const std::vector<double>& losses, const BlockOptions& options) {
  for (size_t i = 0; i < losses.size(); ++i) {
    if (!std::isfinite(losses[i])) {
      throw NanLoss(options.stage, options.steps_before + static_cast<int64_t>(i) + 1, losses[i]);
    }
  }
}

}  // namespace

const char* stage_name(LoopState::Stage stage) {
  switch (stage) {
    case LoopState::Stage::load:
      return "load";
    case LoopState::Stage::warmup:
      return "warmup";
    case LoopState::Stage::timed:
      return "timed";
    case LoopState::Stage::cached:
      return "cached";
    case LoopState::Stage::count:
      return "count";
    case LoopState::Stage::save:
      return "save";
  }
  return "unknown";
}

NanLoss::NanLoss(LoopState::Stage where, int64_t at_step, double the_loss)
    : std::runtime_error(
          fmt::format("the loss of {} step {} is {}, not a finite number: lower the learning rate, or "
                      "check the data and the precision",
                      stage_name(where), at_step,
                      std::isnan(the_loss) ? "nan" : fmt::format("{}", the_loss))),  // a NaN may have a sign
      stage(where),
      step(at_step),
      loss(the_loss) {}

BlockSamples run_block(TrainingStep& step, Marker& marker, Clock& clock, const BlockOptions& options,
                       LoopState& state) {
  if (options.steps < 1 || options.micro_batches < 1) {
    throw std::invalid_argument(fmt::format("a block needs at least 1 step of 1 micro-batch, not {} of {}",
                                            options.steps, options.micro_batches));
  }
  const auto micro_batches = static_cast<size_t>(options.micro_batches);
  state.step = options.steps_before;
  state.steps = options.steps_before + options.steps;
  state.stage = options.stage;
  marker.reserve(static_cast<size_t>(options.steps) * marks_per_step(micro_batches));
  step.begin_block(options.steps);

  const TimedRegion region = run_timed_region(step, marker, clock, options, state);

  BlockSamples samples;
  samples.steps = region.steps;
  samples.wall_s = region.wall_s;
  const BlockFacts facts = step.end_block();
  take_facts(facts, samples);
  require_finite(samples.losses, options);
  for (int64_t i = 0; i < samples.steps; ++i) {
    const size_t begin = static_cast<size_t>(i) * marks_per_step(micro_batches);
    read_step(marker, begin, micro_batches, i + 1 == samples.steps, samples);
  }
  take_exchange_out(facts, samples);
  return samples;
}

}  // namespace flopmark
