#pragma once

#include "measure/samples.h"

namespace flopmark {

/// `launch` as rank 0 of two leaves it: each rank had half of the samples. Rank 0 computes for 60 % of the
/// step and rank 1 for 70 %; they are inside all_reduce for 30 % and 20 %, of which 20 % and 10 % of the step
/// after the last gradient; 4 MiB of buffers a step. 15 % of the step is exposed, 10 % of it taken from
/// backward.
inline LaunchSamples as_two_ranks(LaunchSamples launch) {
  BlockSamples& timed = launch.timed;
  const double step_s = timed.step_s.front();
  RankSamples rank;
  rank.host = "alpha";
  rank.device_name = launch.environment.device_name.value_or("");
  rank.step_s = timed.step_s;
  rank.compute_s = 0.6 * step_s;
  rank.communication_s = 0.3 * step_s;
  rank.communication_exposed_s = 0.2 * step_s;
  rank.samples = timed.samples / 2;
  rank.tokens = timed.tokens / 2;
  rank.images = timed.images / 2;
  rank.communication_bytes = 4 * 1024 * 1024;
  rank.memory_peak_bytes = 100 * 1024 * 1024;
  launch.ranks = {rank, rank};
  RankSamples& other = launch.ranks[1];
  other.rank = 1;
  other.host = "beta";
  other.compute_s = 0.7 * step_s;
  other.communication_s = 0.2 * step_s;
  other.communication_exposed_s = 0.1 * step_s;
  other.memory_peak_bytes = 120 * 1024 * 1024;
  launch.communication = CommunicationSamples{"gloo", "all_reduce", 0.15, ""};
  auto& exposed_s = timed.phase_s[static_cast<size_t>(Phase::communication)];
  exposed_s.assign(timed.step_s.size(), 0.1 * step_s);
  for (double& backward_s : timed.phase_s[static_cast<size_t>(Phase::backward)]) backward_s -= 0.1 * step_s;
  return launch;
}

}  // namespace flopmark
