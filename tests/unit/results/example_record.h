#pragma once

#include "flopmark/record.h"

namespace flopmark {

/// A full record made by hand: 8 H200 in bf16, two launches of four steps.
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
  record.warmup = WarmupSummary{14, 1.5, true, "steady after 14 steps"};
  record.repeats = {
      {4, 8, 256, 0, 1.0049382716, {0.25, 0.2512345678}, 5.5, 5.25, {0.25, 0.25, 0.25, 0.2549382716}},
      {4, 8, 256, 0, 1.01, {0.2525, 0.2525}, 5.5, 5.125, {0.2525, 0.2525, 0.2525, 0.2525}}};
  return record;
}

}  // namespace flopmark
