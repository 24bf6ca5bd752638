#include "config/key_rows.h"

namespace flopmark {

// A table, two or three lines a row, that clang-format would tear apart.
// clang-format off
std::vector<KeyRow> measure_rows() {
  return {
      {.path = "measure.warmup_min_steps",
       .field = +[](RunConfig& c) -> auto& { return c.measure.warmup_min_steps; },
       .doc = "Warm-up steps at least.", .integers = {0, kMaxSteps}},
      {.path = "measure.warmup_max_steps",
       .field = +[](RunConfig& c) -> auto& { return c.measure.warmup_max_steps; },
       .doc = "Warm-up steps at most; a run that is not steady by then says so.",
       .integers = {0, kMaxSteps}},
      {.path = "measure.warmup_max_s",
       .field = +[](RunConfig& c) -> auto& { return c.measure.warmup_max_s; },
       .doc = "Warm-up seconds at most.", .numbers = {.max = kMaxSeconds}},
      {.path = "measure.steps", .field = +[](RunConfig& c) -> auto& { return c.measure.steps; },
       .doc = "Timed steps per launch.", .integers = {1, kMaxSteps}},
      {.path = "measure.repeats", .field = +[](RunConfig& c) -> auto& { return c.measure.repeats; },
       .doc = "Launches, a fresh process each.", .integers = {1, 10000}},
      {.path = "measure.timeout_s", .field = +[](RunConfig& c) -> auto& { return c.measure.timeout_s; },
       .doc = "Seconds after which a launch is stopped.",
       .numbers = {.max = kMaxSeconds, .above_min = true}},
      {.path = "measure.threads", .field = +[](RunConfig& c) -> auto& { return c.measure.threads; },
       .doc = "Threads of LibTorch's operators; 0: all usable cores, shared out among ranks on a CPU.", .integers = {0, 4096}},
      {.path = "measure.attention_convention",
       .field = +[](RunConfig& c) -> auto& { return c.measure.attention_convention; },
       .doc = "Attention's FLOPs: full, or causal: half where is_causal is set on a square shape.",
       .values = {"full", "causal"}},
      {.path = "measure.loader", .field = +[](RunConfig& c) -> auto& { return c.measure.loader; },
       .doc = "both: a second pass on one batch made before, to know what the loader costs; not in ab.",
       .values = {"normal", "both"}},
  };
}

std::vector<KeyRow> parallel_rows() {
  return {
      {.path = "parallel.ranks", .field = +[](RunConfig& c) -> auto& { return c.parallel.ranks; },
       .doc = "Processes that train together, a device each; under torchrun, mpirun or srun its number.",
       .integers = {1, 1024}, .other_names = {"world_size", "nproc_per_node", "num_processes", "gpus"}},
      {.path = "parallel.backend", .field = +[](RunConfig& c) -> auto& { return c.parallel.backend; },
       .doc = "What exchanges the gradients; auto: nccl between GPUs, gloo between CPUs.",
       .values = {"auto", "gloo", "nccl"}, .other_names = {"dist_backend", "ddp_backend"}},
      {.path = "parallel.bucket_bytes",
       .field = +[](RunConfig& c) -> auto& { return c.parallel.bucket_bytes; },
       .doc = "Gradients are exchanged in buckets of about this size, while backward goes on.",
       .integers = {1, 1099511627776}, .other_names = {"bucket_cap_mb", "ddp_bucket_cap_mb"}},
      {.path = "parallel.timeout_s", .field = +[](RunConfig& c) -> auto& { return c.parallel.timeout_s; },
       .doc = "Seconds that ranks wait for each other, at the start and in every exchange.",
       .numbers = {.max = kMaxSeconds, .above_min = true}, .other_names = {"ddp_timeout"}},
      {.path = "parallel.sharding", .field = +[](RunConfig& c) -> auto& { return c.parallel.sharding; },
       .doc = "zero2: every rank keeps and updates its share of gradients and optimizer state only.",
       .values = {"none", "zero2"}, .other_names = {"zero_stage", "zero", "fsdp"}},
  };
}

std::vector<KeyRow> peak_rows() {
  return {
      {.path = "peak.flop_per_s", .field = +[](RunConfig& c) -> auto& { return c.peak_flop_per_s; },
       .doc = "Dense peak of one device (of one rank) that MFU divides by, in FLOP/s; null: from the table.",
       .numbers = kPositive},
  };
}
// clang-format on

}  // namespace flopmark
