#pragma once

#include "measure/samples.h"

namespace flopmark {

/// A launch made by hand: 40 steady steps of 0.1 s (0.02 + 0.05 + 0.03 in three phases), FLOPs of the tiny
/// LLaMA.
inline LaunchSamples example_launch() {
  constexpr size_t kSteps = 40;
  LaunchSamples launch;
  launch.environment.device_name = "Test Device 1";
  launch.environment.libtorch = "2.15.0";
  launch.data.format = "synthetic";
  launch.matmul_precision = "bf16";
  launch.attention_kernel = "fused";
  launch.parameters = 125248;
  launch.warmup = {{0.5, 0.1, 0.1}, true, "steady"};
  launch.timed.steps = kSteps;
  launch.timed.step_s.assign(kSteps, 0.1);
  for (auto& phase : launch.timed.phase_s) phase.assign(kSteps, 0.0);
  launch.timed.phase_s[static_cast<size_t>(Phase::forward)].assign(kSteps, 0.02);
  launch.timed.phase_s[static_cast<size_t>(Phase::backward)].assign(kSteps, 0.05);
  launch.timed.phase_s[static_cast<size_t>(Phase::optimizer)].assign(kSteps, 0.03);
  launch.timed.wall_s = 4.0;
  launch.timed.samples = 80;
  launch.timed.tokens = 2560;
  for (size_t i = 0; i < kSteps; ++i) launch.timed.losses.push_back(5.5 - 0.01 * static_cast<double>(i));
  FlopTotals flops;
  flops.forward_flop = 14942208;
  flops.backward_flop = 29884416;
  flops.backward_hardware_flop = 30408704;
  launch.flops = flops;
  return launch;
}

/// Five launches, enough not to be warned of.
inline std::vector<LaunchSamples> example_launches() {
  return std::vector<LaunchSamples>(5, example_launch());
}

}  // namespace flopmark
