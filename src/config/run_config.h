#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "flopmark/model_shape.h"

namespace flopmark {

/// One tensor of a synthetic batch for a model from a file: random values.
struct InputSpec {
  std::vector<int64_t> shape;   ///< sizes >= 1; the first is the batch where all inputs share it
  std::string dtype;            ///< float32, float64, float16, bfloat16, int64, int32, uint8, bool
  std::optional<int64_t> high;  ///< whole numbers: uniform in [0, high); floats are standard normal
  bool operator==(const InputSpec&) const = default;
};

struct DataConfig {
  std::string type =
      "synthetic";   ///< tokens, text, images, cifar10, tensors, synthetic; plugin: one of a file
  std::string path;  ///< absolute after resolving; empty where no data file is read, and where `paths` is set
  std::vector<std::string> paths;  ///< tensors only: in place of `path`; absolute after resolving
  std::string format = "auto";     ///< tokens only: auto, raw-uint16, llmc
  int64_t batch_size = 1;          ///< samples per micro-batch and rank; shape[0] of the first of `inputs`;
                                   ///< 0: as the exported model says
  int64_t sequence_length = 128;   ///< language models only
  int64_t image_size = 28;         ///< images: height and width; the same in `model`
  int64_t image_channels = 1;      ///< the same in `model`
  std::vector<InputSpec> inputs;   ///< models from a file only: one per tensor of a batch; none: as the
                                   ///< exported model says
  int64_t workers = 2;             ///< loader threads; 0 = in the training thread
  int64_t prefetch = 4;            ///< batches made ahead, >= 1
  bool pin_memory = true;
  bool drop_last = true;
  bool shuffle = true;
  int64_t seed = 0;

  // plugin only
  std::string plugin{};       ///< the shared library, absolute
  std::string plugin_type{};  ///< which of its data sets; in a config data.type
  OptionsText options{};
};

/// Activation checkpointing: blocks 0, interval, 2 x interval, ... keep only their input and run forward
/// again in backward. 0: none; 1: every block.
struct CheckpointInterval {
  int64_t blocks = 0;
};

struct OptimizerConfig {
  std::string type = "adamw";  ///< sgd, adamw
  double lr = 3e-4;
  double weight_decay = 0.01;
  double momentum = 0.0;                          ///< sgd
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;  ///< adamw
};

struct TrainConfig {
  std::string precision = "fp32";  ///< fp32, tf32, bf16-mixed, bf16, fp16-mixed
  OptimizerConfig optimizer;
  int64_t gradient_accumulation = 1;
  std::optional<double> gradient_clip;          ///< total norm; null = off
  CheckpointInterval activation_checkpointing;  ///< in JSON none, full or a whole number
  std::string attention_kernel = "auto";        ///< auto, fused, unfused
  bool channels_last = false;                   ///< convolution nets: images lie in memory as [B, H, W, C]
  int64_t seed = 0;
};

struct MeasureConfig {
  int64_t warmup_min_steps = 10;
  int64_t warmup_max_steps = 200;
  double warmup_max_s = 120;
  int64_t steps = 50;                         ///< timed steps per launch
  int64_t repeats = 10;                       ///< launches, a fresh process each
  double timeout_s = 3600;                    ///< per launch
  int64_t threads = 0;                        ///< 0 = all usable cores
  std::string attention_convention = "full";  ///< full, causal
  std::string loader = "normal";              ///< normal, both: a second pass on one batch
};

/// How many processes train together, and how they exchange gradients.
struct ParallelConfig {
  int64_t ranks = 1;                ///< processes, one device each; 1: none of the other keys has an effect
  std::string backend = "auto";     ///< auto (nccl on GPUs, gloo on CPUs), gloo, nccl
  int64_t bucket_bytes = 26214400;  ///< gradients are exchanged in buckets of about this size
  double timeout_s = 60;            ///< of every meeting and collective
  std::string sharding = "none";    ///< none: each rank keeps the whole optimizer state; zero2: its share
};

/// The whole configuration of a run, resolved: presets applied, paths absolute, every value effective.
struct RunConfig {
  std::string name;  ///< [A-Za-z0-9][A-Za-z0-9._-]{0,63}; default: the config file's stem
  ModelShape model;
  DataConfig data;
  TrainConfig train;
  std::string device = "auto";  ///< auto, cpu, cuda, cuda:N
  MeasureConfig measure;
  ParallelConfig parallel;
  std::optional<double> peak_flop_per_s;
  std::filesystem::path file;  ///< where it came from; empty if none
};

/// Reads `file` (a model, told by its extension .pt or .pt2, stands for a config that only names
/// it; else JSON with comments, `extends` chains relative to the extending file), applies
/// `--set key=value` pairs in order, then presets and defaults. Relative paths in a config are relative to
/// the file that names them; those in `--set` to the current folder.
/// @throws Error 200: missing or unreadable file, bad JSON (with line and column), unknown, duplicate,
/// ill-typed,
///   out-of-range or not-applicable key, each with its file, place and the nearest known name.
RunConfig load_config(const std::filesystem::path& file, const std::vector<std::string>& sets = {});

/// The resolved config as JSON, as records have it: every key that applies with its effective value. `file`
/// is not a key. An empty name or preset, which only code can make, is left out.
nlohmann::json whole_json(const RunConfig& config);

/// The same without `parallel` where there is one rank: what a worker gets, and what calibrations are known
/// by. A config of one rank so stays what it was before there were several: workers built then read it.
nlohmann::json to_json(const RunConfig& config);

/// The inverse of either, for the worker. @throws Error 205 if `json` is not a resolved config.
RunConfig config_from_resolved(const nlohmann::json& json);

/// JSON Schema (draft 2020-12) of a config file, generated from the table that parses it.
/// configs/schema.json is its dump(2) and a newline.
nlohmann::json config_schema();

/// Every key with type, default, range and meaning: the text of `flopmark run --help-config`.
std::string config_help();

}  // namespace flopmark
