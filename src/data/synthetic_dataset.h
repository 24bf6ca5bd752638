#pragma once

#include <torch/types.h>

#include <memory>
#include <vector>

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

/// Tensors of any shape and type, for a model from a file: floats standard normal, bool 0 or 1, other whole
/// numbers uniform in [0, high). Where all inputs share their first size, it is the batch, and sample i
/// depends on seed and i alone; else every tensor is drawn whole, for the first of its samples. The values
/// are drawn once, at construction, as those of SyntheticImages.
class SyntheticInputs : public Dataset {
 public:
  struct Options {
    std::vector<InputSpec> inputs;  ///< at least one, every shape with at least one size
    int64_t seed = 0;
    int64_t ranks = 1;  ///< that share an epoch: it holds whole batches for all of them
  };
  explicit SyntheticInputs(const Options& options);
  /// A whole number of batches, so that none is short.
  int64_t size() const override { return size_; }
  Batch collate(const std::vector<size_t>& indices) const override;

 private:
  /// One argument: its values in windows of `row_values`, `rows` of them in a batch.
  struct Column {
    std::vector<int64_t> shape;
    int64_t rows = 1, row_values = 1;
    torch::Tensor values;
  };
  Column make_column(const InputSpec& input, const torch::Generator& generator) const;

  int64_t seed_, batch_size_, size_;
  bool shared_batch_;
  std::vector<Column> columns_;
};

/// data.type synthetic: data.inputs where there are any, tokens for a model with a vocabulary, images for a
/// classifier. @throws Error 200: the model is none of these, or its input_size is not that of the images.
std::unique_ptr<Dataset> make_synthetic_dataset(const RunConfig& config);

}  // namespace flopmark
