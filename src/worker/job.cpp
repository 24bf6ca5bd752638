#include "worker/job.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <fstream>
#include <optional>
#include <span>
#include <vector>

#include "data/content_hash.h"
#include "data/datasets.h"
#include "flopmark/error.h"
#include "models/exported_inputs.h"

namespace flopmark {
namespace {

LoaderOptions loader_options(const DataConfig& data, const torch::Device& device, const RankPlace& place) {
  return {.batch_size = data.batch_size,
          .workers = data.workers,
          .prefetch = data.prefetch,
          .pin_memory = data.pin_memory && device.is_cuda(),
          .drop_last = data.drop_last,
          .shuffle = data.shuffle,
          .seed = data.seed,
          .rank = place.rank,
          .ranks = place.ranks};
}

DataSummary summarize(const Dataset& dataset) {
  const Dataset::Facts facts = dataset.facts();
  return {.path = facts.path,
          .format = facts.format,
          .hash = facts.hash,
          .samples = dataset.size(),
          .tokens = facts.tokens,
          .model_hash = std::nullopt};
}

/// ContentHash of a whole file; nothing if it cannot be read to its end, or there is none.
std::optional<std::string> file_hash(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::vector<char> part(size_t{1} << 20);
  ContentHash hash;
  while (stream.read(part.data(), static_cast<std::streamsize>(part.size())) || stream.gcount() > 0) {
    hash.add(std::as_bytes(std::span(part.data(), static_cast<size_t>(stream.gcount()))));
  }
  if (!stream.eof()) return std::nullopt;
  return fmt::format("{:016x}", hash.value());
}

/// oneDNN has no recurrent kernels in fp16 for the CPU, and would say so in the midst of a step.
void check_lstm_precision(const RunConfig& config, const torch::Device& device) {
  if (config.model.type != "lstm" || config.train.precision != "fp16-mixed" || !device.is_cpu()) return;
  throw usage_error(fmt::format(
      "{}: train.precision fp16-mixed: an lstm cannot run in fp16 on a CPU; use bf16-mixed, or a GPU",
      config.name));
}

/// Tensors of a batch: as many as the config names, else as the data has.
int64_t count_inputs(const RunConfig& config, const Dataset& dataset) {
  if (config.data.type == "tensors" || config.data.type == "plugin") {
    return std::ssize(dataset.collate({0}).inputs);
  }
  return config.data.type == "synthetic" && !config.data.inputs.empty() ? std::ssize(config.data.inputs) : 2;
}

}  // namespace

void check_batch_norm(const RunConfig& config, int64_t samples, int64_t ranks) {
  constexpr int64_t kShrinksBy = 32;
  if ((config.model.type != "resnet" && config.model.type != "convnet") ||
      config.model.image_size > kShrinksBy)
    return;
  const int64_t rest = config.data.drop_last ? 0 : samples % (config.data.batch_size * ranks) / ranks;
  if (config.data.batch_size > 1 && rest != 1) return;
  throw usage_error(fmt::format(
      "{}: {} has one image of {} x {}, so that the last batch norm would see a single value per channel; {}",
      config.name, rest == 1 ? "the last batch of an epoch" : "a batch (data.batch_size)",
      config.data.image_size, config.data.image_size,
      rest == 1 ? "set data.drop_last to true or change data.batch_size"
                : "raise data.batch_size or data.image_size"));
}

FlopObserver::Options counting_options(const RunConfig& config) {
  return {.convention = attention_convention(config.measure.attention_convention),
          .tf32 = matmul_precision(config.train.precision) == "tf32"};
}

RunConfig complete_config(RunConfig config) {
  if (config.model.type != "exported" || !config.data.inputs.empty()) return config;
  if (config.data.type == "synthetic") {
    config.data.inputs = exported_data_inputs(config.model.exported, config.data.batch_size);
    config.data.batch_size = config.data.inputs.front().shape.front();
  } else {
    config.data.batch_size = exported_batch_size(config.model.exported, config.data.batch_size);
  }
  return config;
}

torch::Device prepare_device(const RunConfig& config) {
  const torch::Device device = resolve_device(config.device);
  if (config.measure.threads > 0) {
    at::set_num_threads(static_cast<int>(config.measure.threads));
  }
  apply_precision(config.train, device);
  return device;
}

Job make_job(const RunConfig& config, const ModelMaker& maker, const LoopState& state,
             const RankPlace& place) {
  Job job;
  job.device = prepare_device(config);
  at::manual_seed(static_cast<uint64_t>(config.train.seed + place.rank));  // dropout
  std::shared_ptr<const Dataset> dataset = make_dataset(config);
  job.data = summarize(*dataset);
  check_batch_norm(config, dataset->size(), place.ranks);
  check_lstm_precision(config, job.device);
  const auto tensor =
      torch::TensorOptions().device(job.device).dtype(parameter_dtype(config.train.precision));
  const ModelOptions options{.tensor = tensor,
                             .seed = config.train.seed,
                             .checkpoint_interval = config.train.activation_checkpointing.blocks,
                             .inputs = count_inputs(config, *dataset),
                             .channels_last = config.train.channels_last};
  job.model = maker(config.model, options, state);
  job.data.model_hash = file_hash(config.model.file());
  if (!job.data.hash) job.data.hash = file_hash(config.data.plugin);
  job.loader = std::make_unique<Loader>(std::move(dataset), loader_options(config.data, job.device, place));
  return job;
}

Job make_job(const RunConfig& config) {
  static const LoopState idle;
  return make_job(
      config, [](const auto& shape, const auto& options, const auto&) { return make_model(shape, options); },
      idle);
}

std::unique_ptr<TorchStep> make_step(Job& job, const RunConfig& config, RankGroup* group) {
  auto exchange = group == nullptr
                      ? std::make_unique<GradientExchange>()
                      : make_exchange(*group, config.parallel, config.train, job.model->parameters());
  return std::make_unique<TorchStep>(
      std::move(job.model), std::move(job.loader),
      StepOptions{.device = job.device, .train = config.train, .counting = counting_options(config)},
      std::move(exchange));
}

}  // namespace flopmark
