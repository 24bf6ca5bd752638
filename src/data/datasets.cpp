#include "data/datasets.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "data/cifar_dataset.h"
#include "data/image_dataset.h"
#include "data/masked_tokens.h"
#include "data/model_batch.h"
#include "data/sequence_dataset.h"
#include "data/synthetic_dataset.h"
#include "data/tensor_dataset.h"
#include "flopmark/error.h"
#include "plugin/checked_dataset.h"

namespace flopmark {

#ifndef FLOPMARK_IMAGES
std::unique_ptr<Dataset> make_image_dataset(const RunConfig&) {
  throw usage_error(
      "data.type images: this flopmark-worker was built without the decoders of JPEG and PNG; build it with "
      "-DFLOPMARK_IMAGES=ON (needs libjpeg-turbo and libpng)");
}
#endif

namespace {

struct Maker {
  const char* type;
  std::unique_ptr<Dataset> (*make)(const RunConfig&);
};

std::unique_ptr<Dataset> make_data_of_plugin(const RunConfig& config) {
  const DataConfig& data = config.data;
  auto dataset = make_plugin_dataset({.path = data.plugin,
                                      .type = data.plugin_type,
                                      .options = data.options.json,
                                      .batch_size = data.batch_size,
                                      .seed = data.seed});
  check_model_batch(config, *dataset);
  return dataset;
}

/// A new data.type is one line here.
constexpr Maker kMakers[] = {
    {"cifar10", make_cifar_dataset},       {"images", make_image_dataset},   {"plugin", make_data_of_plugin},
    {"synthetic", make_synthetic_dataset}, {"tensors", make_tensor_dataset}, {"text", make_sequence_dataset},
    {"tokens", make_sequence_dataset},
};

/// Sequences as the model's training wants them.
std::unique_ptr<Dataset> for_model(std::unique_ptr<Dataset> made, const RunConfig& config) {
  if (config.model.type != "bert") return made;
  return std::make_unique<MaskedTokens>(
      std::move(made),
      MaskedTokens::Options{.vocab_size = config.model.vocab_size, .seed = config.data.seed});
}

}  // namespace

std::unique_ptr<Dataset> make_dataset(const RunConfig& config) {
  std::string known;
  for (const Maker& maker : kMakers) {
    if (config.data.type == maker.type) return for_model(maker.make(config), config);
    known += (known.empty() ? "" : ", ") + std::string(maker.type);
  }
  throw usage_error(fmt::format("data.type \"{}\" is unknown; known: {}", config.data.type, known));
}

}  // namespace flopmark
