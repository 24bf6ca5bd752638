#pragma once

#include <cstdint>

#include "measure/samples.h"

namespace flopmark {

/// What made-up samples depend on; the names are the config's.
struct FakeTask {
  int64_t steps = 0, warmup_steps = 10, batch_size = 1, accumulation = 1;
  int64_t sequence_length = 0;  ///< 0: samples are images
  double step_s = 0.2;
};

/// Exact made-up samples of `steps` of the task's timed steps: every step takes step_s (of 0.2 s: data 0.02,
/// forward 0.06, backward 0.1, optimizer 0.02), losses fall linearly from 2 to 1 over the whole task.
inline LaunchSamples fake_samples(const FakeTask& task, int64_t steps) {
  const double step_s = task.step_s;
  const double scale = step_s / 0.2;
  const auto count = static_cast<size_t>(steps);
  LaunchSamples samples;
  samples.environment.device_name = "Fake CPU";
  samples.environment.libtorch = "2.15.0";
  samples.matmul_precision = "fp32";
  samples.attention_kernel = "fused";
  samples.parameters = 125248;
  samples.warmup = {std::vector<double>(static_cast<size_t>(task.warmup_steps), step_s), true,
                    "steady: all steps took the same time"};
  auto& timed = samples.timed;
  timed.steps = steps;
  timed.step_s.assign(count, step_s);
  const double phases[kPhaseCount] = {0.02, 0, 0.06, 0.1, 0, 0.02, 0};
  for (size_t i = 0; i < kPhaseCount; ++i) timed.phase_s[i].assign(count, phases[i] * scale);
  timed.wall_s = step_s * static_cast<double>(steps);
  timed.data_wait_host_s = 0.02 * scale * static_cast<double>(steps);
  timed.samples = steps * task.batch_size * task.accumulation;
  timed.tokens = timed.samples * task.sequence_length;
  timed.images = task.sequence_length > 0 ? 0 : timed.samples;
  const double last = task.steps > 1 ? static_cast<double>(task.steps - 1) : 1;
  for (int64_t i = 0; i < steps; ++i) timed.losses.push_back(2.0 - static_cast<double>(i) / last);
  samples.memory.host_bytes = 100 * 1024 * 1024;
  FlopTotals flops;
  flops.forward_flop = 14942208;
  flops.backward_flop = 29884416;
  flops.backward_hardware_flop = 30408704;
  flops.by_operator = {{"aten::mm", 45, flops.model_flop(), flops.hardware_flop()}};
  samples.flops = flops;
  return samples;
}

}  // namespace flopmark
