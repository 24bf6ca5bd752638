#pragma once

#include "measure/exposed_exchange.h"
#include "measure/samples.h"
#include "train/torch_step.h"
#include "worker/rank_job.h"

namespace flopmark {

/// Steps of each of the eight runs, so that they are no more than the timed ones together.
int64_t exposed_run_steps(int64_t timed_steps);

/// What part of a step the exchange between ranks adds, from steps with and without it that no other figure
/// holds; what was trained is put back. Of the slowest rank on both sides. Fills `communication`: the ratio,
/// or why there is none, the same on all ranks. @throws as run_block, but for a loss that is not finite.
void find_exposed_ratio(TorchStep& step, Marker& marker, Clock& clock, const ExposedOptions& options,
                        LoopState& state, RankJob& ranks, CommunicationSamples& communication);

}  // namespace flopmark
