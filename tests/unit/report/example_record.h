#pragma once

#include "flopmark/record.h"

namespace flopmark::testing {

/// Tiny LLaMA at exactly 0.2 s a step, 2 launches of 50 steps, 2 samples of 32 tokens each: 10 samples/s, 320
/// tokens/s; 44,826,624 model FLOPs a step are 224,133,120 FLOP/s. Against a peak of 1 GFLOP/s: MFU
/// 0.22413312. Hardware 45,350,912: HFU 0.22675456.
inline RunRecord example_record() {
  RunRecord record;
  record.name = "llama-tiny-cpu";
  record.time = "2026-01-02T03:04:05.678Z";
  record.config = {
      {"model", {{"type", "llama"}, {"preset", "llama-tiny"}}},
      {"data",
       {{"type", "text"}, {"path", "/somewhere/corpus.txt"}, {"batch_size", 2}, {"sequence_length", 32}}},
      {"train", {{"precision", "fp32"}, {"gradient_accumulation", 1}, {"optimizer", {{"type", "adamw"}}}}}};
  record.subject.commit = "0123456789abcdef0123456789abcdef01234567";
  record.subject.branch = "main";
  record.subject.dirty = false;
  record.environment.device_name = "Example CPU";
  record.environment.libtorch = "2.11.0";
  record.environment.threads = 2;
  record.data.format = "bytes";
  record.data.tokens = 100000;
  record.parameters = 125248;
  record.attention_kernel = "fused";
  FlopTotals flops;
  flops.forward_flop = 14942208;
  flops.backward_flop = 29884416;
  flops.backward_hardware_flop = 30408704;
  flops.by_operator = {{"aten::attention", 2, 1048576, 1048576},
                       {"aten::attention_backward", 2, 2097152, 2621440},
                       {"aten::mm", 45, 41680896, 41680896}};
  record.flops = flops;
  record.peak = {1e9, "fp32", "by_hand", "Example CPU", std::nullopt};
  record.metrics.step_s = StepStatistics{0.2, 0.2, 0.19, 0.21, 0.25, 0.199, 0.201};
  record.metrics.values = {{"samples_per_s", 10.0},           {"samples_per_s_per_device", 10.0},
                           {"tokens_per_s", 320.0},           {"images_per_s", std::nullopt},
                           {"model_flop_per_s", 224133120.0}, {"hardware_flop_per_s", 226754560.0},
                           {"mfu_ratio", 0.22413312},         {"hfu_ratio", 0.22675456},
                           {"host_peak_bytes", 536870912.0},  {"data_wait_ratio", 0.012}};
  Phases phases;
  phases.data_s = 0.0024;
  phases.forward_s = 0.0600;
  phases.backward_s = 0.1200;
  phases.optimizer_s = 0.0170;
  phases.other_s = 0.0006;
  record.phases = phases;
  record.warmup = WarmupSummary{40, 0.5, true, "the medians of the last 40 steps agree within 2 %"};
  Repeat repeat;
  repeat.steps = 50;
  repeat.samples = 100;
  repeat.tokens = 3200;
  repeat.wall_s = 10;
  repeat.loss_first = 5.5452;
  repeat.loss_last = 4.25;
  record.repeats = {repeat, repeat};
  return record;
}

}  // namespace flopmark::testing
