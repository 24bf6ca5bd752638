#include "measure/turns.h"

namespace flopmark {
namespace {

void append(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

BlockSamples run_turn(TrainingStep& step, Marker& marker, Clock& clock, const TurnOptions& options,
                      LoopState& state) {
  BlockOptions block{
      .micro_batches = options.micro_batches, .steps_before = options.steps_before, .stage = options.stage};
  if (options.discard_first) run_block(step, marker, clock, block, state);
  if (state.stop) return {};
  block.steps = options.steps;
  return run_block(step, marker, clock, block, state);
}

void append(BlockSamples& all, const BlockSamples& more) {
  all.steps += more.steps;
  append(all.step_s, more.step_s);
  for (size_t i = 0; i < kPhaseCount; ++i) append(all.phase_s[i], more.phase_s[i]);
  all.wall_s += more.wall_s;
  all.data_wait_host_s += more.data_wait_host_s;
  all.samples += more.samples;
  all.tokens += more.tokens;
  all.images += more.images;
  append(all.losses, more.losses);
  if (more.skipped_steps) all.skipped_steps = all.skipped_steps.value_or(0) + *more.skipped_steps;
}

}  // namespace flopmark
