#include "data/synthetic_dataset.h"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "data/mix.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr int64_t kMinSamples = 4096;
constexpr int64_t kSpareValues = int64_t{1} << 20;  // image windows start at as many places, at most

/// A seed of its own for every sample.
uint64_t sample_seed(int64_t seed, size_t index) {
  return splitmix64(static_cast<uint64_t>(seed), index);
}

int64_t uniform(uint64_t random, int64_t bound) {
  return static_cast<int64_t>(scale_to(random, static_cast<uint64_t>(bound)));
}

}  // namespace

Batch SyntheticTokens::collate(const std::vector<size_t>& indices) const {
  const auto rows = static_cast<int64_t>(indices.size());
  const int64_t length = options_.sequence_length;
  Batch batch;
  batch.inputs = {torch::empty({rows, length}, torch::kInt64), torch::empty({rows, length}, torch::kInt64)};
  auto* ids = batch.inputs[0].mutable_data_ptr<int64_t>();
  auto* next_ids = batch.inputs[1].mutable_data_ptr<int64_t>();
  for (const size_t index : indices) {
    const uint64_t seed = sample_seed(options_.seed, index);
    int64_t id = uniform(splitmix64(seed, 0), options_.vocab_size);
    for (int64_t t = 0; t < length; ++t) {
      ids[t] = id;
      id = uniform(splitmix64(seed, static_cast<uint64_t>(t) + 1), options_.vocab_size);
      next_ids[t] = id;
    }
    ids += length;
    next_ids += length;
  }
  batch.samples = rows;
  batch.tokens = rows * length;
  return batch;
}

SyntheticImages::SyntheticImages(const Options& options)
    : options_(options), pixels_(options.channels * options.image_size * options.image_size) {
  const torch::Generator generator = at::detail::createCPUGenerator(static_cast<uint64_t>(options.seed));
  values_ = at::randn({pixels_ + kSpareValues}, generator, torch::kFloat32);
}

Batch SyntheticImages::collate(const std::vector<size_t>& indices) const {
  const auto rows = static_cast<int64_t>(indices.size());
  Batch batch;
  batch.inputs = {
      torch::empty({rows, options_.channels, options_.image_size, options_.image_size}, torch::kFloat32),
      torch::empty({rows}, torch::kInt64)};
  auto* image = batch.inputs[0].mutable_data_ptr<float>();
  auto* label = batch.inputs[1].mutable_data_ptr<int64_t>();
  const auto* values = values_.const_data_ptr<float>();
  for (const size_t index : indices) {
    const uint64_t seed = sample_seed(options_.seed, index);
    *label++ = uniform(splitmix64(seed, 0), options_.classes);
    const int64_t begin = uniform(splitmix64(seed, 1), kSpareValues);
    std::memcpy(image, values + begin, static_cast<size_t>(pixels_) * sizeof(float));
    image += pixels_;
  }
  batch.samples = rows;
  batch.images = rows;
  return batch;
}

std::unique_ptr<Dataset> make_synthetic_dataset(const RunConfig& config) {
  const DataConfig& data = config.data;
  const ModelShape& model = config.model;
  const int64_t size = std::max(kMinSamples, data.batch_size);
  if (model.vocab_size > 0) {
    return std::make_unique<SyntheticTokens>(SyntheticTokens::Options{.size = size,
                                                                      .vocab_size = model.vocab_size,
                                                                      .sequence_length = data.sequence_length,
                                                                      .seed = data.seed});
  }
  if (model.classes < 1) {
    throw usage_error(fmt::format(
        "data.type synthetic: model.type {} has neither vocab_size nor classes to draw from", model.type));
  }
  const int64_t pixels = data.image_channels * data.image_size * data.image_size;
  if (model.input_size != 0 && model.input_size != pixels) {
    throw usage_error(
        fmt::format("images of {} x {} x {} (data.image_channels, image_size) have {} values, but "
                    "model.input_size is {}; "
                    "make them equal",
                    data.image_channels, data.image_size, data.image_size, pixels, model.input_size));
  }
  return std::make_unique<SyntheticImages>(SyntheticImages::Options{.size = size,
                                                                    .channels = data.image_channels,
                                                                    .image_size = data.image_size,
                                                                    .classes = model.classes,
                                                                    .seed = data.seed});
}

}  // namespace flopmark
