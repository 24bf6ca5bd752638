#include "data/synthetic_dataset.h"

#include <ATen/CPUGeneratorImpl.h>
#include <c10/util/accumulate.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

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

struct InputDtype {
  const char* name;
  torch::Dtype dtype;
};

constexpr InputDtype kInputDtypes[] = {
    {"float32", torch::kFloat32},   {"float64", torch::kFloat64}, {"float16", torch::kFloat16},
    {"bfloat16", torch::kBFloat16}, {"int64", torch::kInt64},     {"int32", torch::kInt32},
    {"uint8", torch::kUInt8},       {"bool", torch::kBool},
};

torch::Tensor random_values(const InputSpec& input, int64_t count, const torch::Generator& generator) {
  const auto* found = std::find_if(std::begin(kInputDtypes), std::end(kInputDtypes),
                                   [&](const InputDtype& known) { return input.dtype == known.name; });
  if (found == std::end(kInputDtypes)) {
    throw usage_error(fmt::format("data.inputs: dtype \"{}\" is unknown; use float32 or int64", input.dtype));
  }
  if (c10::isFloatingType(found->dtype)) {
    const auto drawn = found->dtype == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32;
    return at::randn({count}, generator, drawn).to(found->dtype);
  }
  return at::randint(input.high.value_or(2), {count}, generator, torch::kInt64).to(found->dtype);
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

SyntheticInputs::SyntheticInputs(const Options& options)
    : seed_(options.seed), batch_size_(options.inputs.at(0).shape.at(0)) {
  const int64_t of_all_ranks = batch_size_ * options.ranks;
  size_ = (kMinSamples + of_all_ranks - 1) / of_all_ranks * of_all_ranks;
  shared_batch_ = std::all_of(options.inputs.begin(), options.inputs.end(),
                              [&](const InputSpec& input) { return input.shape.at(0) == batch_size_; });
  const torch::Generator generator = at::detail::createCPUGenerator(static_cast<uint64_t>(seed_));
  for (const InputSpec& input : options.inputs) columns_.push_back(make_column(input, generator));
}

SyntheticInputs::Column SyntheticInputs::make_column(const InputSpec& input,
                                                     const torch::Generator& generator) const {
  Column column;
  column.shape = input.shape;
  column.rows = shared_batch_ ? batch_size_ : 1;
  const int64_t values = c10::multiply_integers(input.shape);
  column.row_values = values / column.rows;
  column.values = random_values(input, column.row_values + kSpareValues, generator);
  return column;
}

Batch SyntheticInputs::collate(const std::vector<size_t>& indices) const {
  Batch batch;
  batch.samples = static_cast<int64_t>(indices.size());
  for (size_t place = 0; place < columns_.size(); ++place) {
    const Column& column = columns_[place];
    std::vector<int64_t> shape = column.shape;
    const size_t rows = shared_batch_ ? indices.size() : 1;
    if (shared_batch_) shape.front() = batch.samples;
    torch::Tensor input = torch::empty(shape, column.values.scalar_type());
    const size_t value_bytes = input.element_size(),
                 row_bytes = value_bytes * static_cast<size_t>(column.row_values);
    auto* row = static_cast<char*>(input.mutable_data_ptr());
    const auto* values = static_cast<const char*>(column.values.const_data_ptr());
    for (size_t i = 0; i < rows; ++i, row += row_bytes) {
      const int64_t begin = uniform(splitmix64(sample_seed(seed_, indices[i]), place), kSpareValues);
      std::memcpy(row, values + static_cast<size_t>(begin) * value_bytes, row_bytes);
    }
    batch.inputs.push_back(std::move(input));
  }
  return batch;
}

std::unique_ptr<Dataset> make_synthetic_dataset(const RunConfig& config) {
  const DataConfig& data = config.data;
  if (!data.inputs.empty()) {
    return std::make_unique<SyntheticInputs>(
        SyntheticInputs::Options{data.inputs, data.seed, config.parallel.ranks});
  }
  const ModelShape& model = config.model;
  const int64_t size = std::max(kMinSamples, data.batch_size * config.parallel.ranks);
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
                    "model.input_size is {}; make them equal",
                    data.image_channels, data.image_size, data.image_size, pixels, model.input_size));
  }
  return std::make_unique<SyntheticImages>(SyntheticImages::Options{.size = size,
                                                                    .channels = data.image_channels,
                                                                    .image_size = data.image_size,
                                                                    .classes = model.classes,
                                                                    .seed = data.seed});
}

}  // namespace flopmark
