#pragma once

#include "flopmark/record.h"

namespace flopmark {

/// A full record made by hand: 8 H200 in bf16, three launches of four steps.
inline RunRecord example_record() {
  RunRecord record;
  record.name = "llama-1b-h200";
  record.time = "2026-11-30T05:55:12.123Z";
  record.command_line = {"flopmark", "run", "configs/llama-1b.json"};
  record.flopmark_version = "0.1.0";
  record.warnings = {{"few_steps", "only 4 steps"}};
  record.config = {{"name", "llama-1b-h200"},
                   {"model", {{"type", "llama"}, {"preset", "llama-1b"}}},
                   {"train", {{"optimizer", {{"type", "adamw"}, {"lr", 0.000123456789}}}}},
                   {"peak", {{"flop_per_s", nullptr}}}};
  record.subject.commit = "0123456789abcdef0123456789abcdef01234567";
  record.subject.dirty = false;
  record.subject.branch = "main";
  record.environment.device_name = "NVIDIA H200";
  record.environment.device_count = 8;
  record.environment.libtorch = "2.15.0";
  record.environment.cpu_logical = 96;
  record.environment.variables = {{"OMP_NUM_THREADS", "8"}};
  record.environment.device_uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef";
  record.environment.device_power_limit_w = 700;
  record.environment.ecc = true;
  record.data.path = "data/corpus.bin";
  record.data.hash = "00ff00ff00ff00ff";
  record.data.tokens = 123456789;
  record.parameters = 1235814400;
  record.attention_kernel = "fused";
  FlopTotals flops;
  flops.forward_flop = 14942208;
  flops.backward_flop = 29884416;
  flops.backward_hardware_flop = 30408704;
  flops.by_operator = {{"aten::mm", 45, 43778048, 43778048}};
  flops.uncounted = {{"aten::cumsum", 1}};
  record.flops = flops;
  record.peak = {989.4e12, "bf16", "table", "NVIDIA H200", std::nullopt};
  record.metrics.step_s = StepStatistics{0.25, 0.2512345678, 0.24, 0.26, 0.27, 0.249, 0.253};
  record.metrics.values = {{"mfu_ratio", 0.424499},
                           {"hfu_ratio", 0.44},
                           {"tokens_per_s", 123456.789},
                           {"samples_per_s", 60.25},
                           {"memory_peak_allocated_bytes", 8589934592.0},
                           {"communication_ratio", std::nullopt}};
  record.phases = Phases{0.01, 0.002, 0.08, 0.14, 0.0, 0.018, 0.0012345678, 0.012};
  record.conditions = Conditions{};
  record.conditions->samples = 20;
  record.conditions->device_clock_hz = SampledRange{1.755e9, 1.98e9, 1.98e9};
  record.conditions->device_temperature_c = SampledRange{58, 63, 64};
  record.conditions->throttle_ratio = {{"sw_power_cap", 0.35}};
  record.conditions->device_energy_j = 1234.5678;
  record.conditions->steal_ratio = 0;
  record.ruler = Ruler{137438953472, 134217728, {0.0026, 0.00261234567}, {0.00005, 0.0000501}};
  record.warmup = WarmupSummary{14, 1.5, true, "steady after 14 steps"};
  record.repeats = {
      {4, 8, 256, 0, 1.0049382716, {0.25, 0.2512345678}, 5.5, 5.25, {0.25, 0.25, 0.25, 0.2549382716}},
      {4, 8, 256, 0, 1.01, {0.2525, 0.2525}, 5.5, 5.125, {0.2525, 0.2525, 0.2525, 0.2525}},
      {4, 8, 256, 0, 1.0, {0.25, 0.25}, 5.5, 5.125, {0.25, 0.25, 0.25, 0.25}}};
  return record;
}

/// Tiny LLaMA at exactly 0.2 s a step, 2 launches of 50 steps, 2 samples of 32 tokens each: 10 samples/s, 320
/// tokens/s; 44,826,624 model FLOPs a step are 224,133,120 FLOP/s. Against a peak of 1 GFLOP/s: MFU
/// 0.22413312. Hardware 45,350,912: HFU 0.22675456.
inline RunRecord example_cpu_record() {
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

}  // namespace flopmark
