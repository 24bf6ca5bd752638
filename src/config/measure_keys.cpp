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
       .doc = "Threads of LibTorch's operators; 0: all usable cores.", .integers = {0, 4096}},
      {.path = "measure.attention_convention",
       .field = +[](RunConfig& c) -> auto& { return c.measure.attention_convention; },
       .doc = "Attention's FLOPs: full, or causal: half where is_causal is set on a square shape.",
       .values = {"full", "causal"}},
      {.path = "measure.loader", .field = +[](RunConfig& c) -> auto& { return c.measure.loader; },
       .doc = "both: a second pass on one batch made before, to know what the loader costs; not in ab.",
       .values = {"normal", "both"}},
  };
}

std::vector<KeyRow> peak_rows() {
  return {
      {.path = "peak.flop_per_s", .field = +[](RunConfig& c) -> auto& { return c.peak_flop_per_s; },
       .doc = "Dense peak of one device that MFU divides by, in FLOP/s; null: from the table.",
       .numbers = kPositive},
  };
}
// clang-format on

}  // namespace flopmark
