#pragma once

#include <torch/types.h>

#include <memory>

#include "config/run_config.h"
#include "flopmark/dataset.h"

namespace flopmark {

/// Random token ids, uniform over the vocabulary. Sample i depends on seed and i alone, whichever thread
/// makes it.
class SyntheticTokens : public Dataset {
 public:
  struct Options {
    int64_t size = 1;  ///< samples per epoch
    int64_t vocab_size = 1;
    int64_t sequence_length = 1;
    int64_t seed = 0;
  };
  explicit SyntheticTokens(const Options& options) : options_(options) {}
  int64_t size() const override { return options_.size; }
  Batch collate(const std::vector<size_t>& indices) const override;

 private:
  Options options_;
};

/// Images of standard normal values with labels uniform over the classes. Sample i depends on seed and i
/// alone. The values are drawn once, at construction; an image is a window into them. Drawing while the clock
/// runs could make the loader, not the model, the thing measured.
class SyntheticImages : public Dataset {
 public:
  struct Options {
    int64_t size = 1;  ///< samples per epoch
    int64_t channels = 1;
    int64_t image_size = 1;  ///< height and width
    int64_t classes = 1;
    int64_t seed = 0;
  };
  explicit SyntheticImages(const Options& options);
  int64_t size() const override { return options_.size; }
  Batch collate(const std::vector<size_t>& indices) const override;

 private:
  Options options_;
  int64_t pixels_;  ///< values per image
  torch::Tensor values_;
};

/// data.type synthetic: tokens for a model with a vocabulary, images for a classifier. @throws Error 200: the
/// model is neither, or its input_size is not that of the images.
std::unique_ptr<Dataset> make_synthetic_dataset(const RunConfig& config);

}  // namespace flopmark
