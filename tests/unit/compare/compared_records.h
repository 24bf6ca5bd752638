#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "flopmark/record.h"

namespace flopmark {

/// A record made by hand: launches of 20 steps in 4 blocks, each of these means (seconds) in all its blocks;
/// 2 samples of 32 tokens a step.
inline RunRecord record_of(const std::vector<double>& launch_means_s) {
  RunRecord record;
  record.name = "llama-tiny-cpu";
  record.time = "2026-01-02T03:04:05.678Z";
  record.config = {
      {"model", {{"type", "llama"}, {"preset", "llama-tiny"}, {"layers", 2}}},
      {"data", {{"type", "text"}, {"path", "corpus.txt"}, {"batch_size", 2}, {"sequence_length", 32}}},
      {"train", {{"precision", "fp32"}, {"gradient_accumulation", 1}, {"seed", 0}}},
      {"measure", {{"threads", 0}, {"steps", 20}}},
      {"parallel", {{"ranks", 1}}}};
  record.subject.commit = "0123456789abcdef0123456789abcdef01234567";
  record.subject.dirty = false;
  record.environment.device_name = "Example CPU";
  record.environment.libtorch = "2.15.0";
  record.environment.threads = 2;
  record.data.hash = "b9a48bbc5b3858ee";
  record.parameters = 125248;
  record.attention_kernel = "fused";
  FlopTotals flops;
  flops.forward_flop = 14942208;
  flops.backward_flop = 29884416;
  flops.backward_hardware_flop = 30408704;
  record.flops = flops;
  double total_s = 0;
  for (const double mean_s : launch_means_s) {
    Repeat repeat;
    repeat.steps = 20;
    repeat.samples = 40;
    repeat.tokens = 1280;
    repeat.wall_s = 20 * mean_s;
    repeat.block_means_s.assign(4, mean_s);
    repeat.loss_first = 5.5;
    repeat.loss_last = 5.0;
    record.repeats.push_back(repeat);
    total_s += 20 * mean_s;
  }
  const double mean_s = total_s / (20 * static_cast<double>(launch_means_s.size()));
  record.metrics.step_s = StepStatistics{mean_s, mean_s, mean_s, mean_s, mean_s, {}, {}};
  record.metrics.values = {{"samples_per_s", 2 / mean_s},
                           {"tokens_per_s", 64 / mean_s},
                           {"model_flop_per_s", 44826624 / mean_s},
                           {"mfu_ratio", 0.05 / mean_s},
                           {"host_peak_bytes", 5e8},
                           {"memory_peak_allocated_bytes", 1e8},
                           {"data_wait_ratio", 0.01},
                           {"communication_ratio", std::nullopt}};
  return record;
}

/// Five launches within 1 % of a mean step time of 0.2 s times `factor`.
inline RunRecord steady_record(double factor = 1) {
  std::vector<double> means_s{0.199, 0.2005, 0.2, 0.201, 0.1995};
  for (double& mean_s : means_s) mean_s *= factor;
  return record_of(means_s);
}

}  // namespace flopmark
