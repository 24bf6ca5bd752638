#pragma once

#include "measure/samples.h"

namespace flopmark {

/// A launch with every field set, optional ones included, to values that decimal text does not hold easily.
inline LaunchSamples example_samples() {
  LaunchSamples samples;
  samples.status = "failed";
  samples.failure = Failure{"out_of_memory", "timed", 7, "text with \"quotes\" and ü", 3, "gamma"};
  samples.environment.device_name = "Device X";
  samples.environment.device_count = 2;
  samples.environment.driver = "1.2";
  samples.environment.libtorch = "2.15.0";
  samples.environment.cuda = "13.0";
  samples.environment.cudnn = "9";
  samples.environment.nccl = "2.27";
  samples.environment.compiler = "GCC 12";
  samples.environment.cpu_model = "CPU Y";
  samples.environment.os = "Linux";
  samples.environment.governor = "performance";
  samples.environment.interconnect = "none";
  samples.environment.cpu_logical = 8;
  samples.environment.threads = 4;
  samples.environment.variables = {{"OMP_NUM_THREADS", "4"}};
  samples.environment.worker_debug = false;
  samples.environment.libtorch_build = "Release";
  samples.environment.sanitizers = "none";
  samples.environment.device_uuid = "GPU-1";
  samples.environment.ecc = false;
  samples.environment.device_power_limit_w = 700.5;
  samples.environment.memory_bytes = 64;
  samples.conditions = Conditions{};
  samples.conditions->samples = 12;
  samples.conditions->device_clock_hz = SampledRange{1.2e9, 1.7e9, 1.98e9};
  samples.conditions->throttle_ratio = {{"sw_power_cap", 0.25}};
  samples.conditions->device_energy_j = 1.0 / 3;
  samples.conditions->other_processes = 2;
  samples.ruler = Ruler{268435456, 67108864, {1.0 / 3, 0.0041}, {0.0082, 0.0083}};
  samples.zero_inputs = false;
  samples.data = {"corpus.bin", "u16", "0123456789abcdef", 1000, 32000, "fedcba9876543210"};
  samples.matmul_precision = "tf32";
  samples.attention_kernel = "fused";
  samples.parameters = 9'007'199'254'740'993;  // 2^53 + 1: not a double
  samples.warmup = {{0.3, 0.1 + 0.2}, true, "steady: last 40 steps within 1.1 %"};
  samples.timed.steps = 2;
  samples.timed.step_s = {1.0 / 3, 2e-300};
  for (size_t i = 0; i < kPhaseCount; ++i) {
    samples.timed.phase_s[i] = {1.0 / static_cast<double>(i + 7), 1e-9 * static_cast<double>(i)};
  }
  samples.timed.wall_s = 0.7;
  samples.timed.data_wait_host_s = 0.1;
  samples.timed.samples = 128;
  samples.timed.tokens = 4096;
  samples.timed.images = 5;
  samples.timed.losses = {5.545177444479562, 5.5};
  samples.timed.skipped_steps = 1;
  samples.turns = {{1, 0.4, 3}, {1, 1.0 / 7, std::nullopt}};
  samples.cached = samples.timed;
  samples.cached->wall_s = 0.1 + 0.2;
  samples.counted_samples = 64;
  samples.ranks = {
      {0, "alpha", "Device X", "GPU-1", samples.timed.step_s, 1.0 / 3, 1.0 / 7, 1.0 / 9, 64, 2048, 3, 1 << 20,
       5},
      {1, "beta", "Device Y", std::nullopt, {0.3, 0.4}, 0.1, 0.2, 0, 64, 2048, 2, 1 << 20, std::nullopt}};
  samples.communication = CommunicationSamples{"nccl", "all_reduce", 1.0 / 3, ""};
  samples.memory = {1, 2, 3, 4, 5};
  samples.flops = FlopTotals{};
  samples.flops->forward_flop = 10;
  samples.flops->backward_flop = 20;
  samples.flops->backward_hardware_flop = 25;
  return samples;
}

}  // namespace flopmark
