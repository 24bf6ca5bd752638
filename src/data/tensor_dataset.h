#pragma once

#include <torch/types.h>

#include <memory>
#include <vector>

#include "config/run_config.h"
#include "data/mapped_file.h"
#include "flopmark/dataset.h"

namespace flopmark {

/// Saved tensors of equal first dimension, which is the samples; one input per tensor.
class TensorDataset : public Dataset {
 public:
  /// `tensors` contiguous, on the CPU; what they lie in is kept in `files`.
  TensorDataset(std::vector<torch::Tensor> tensors, std::vector<MappedFile> files, Facts facts);
  int64_t size() const override { return tensors_.front().size(0); }
  /// @throws Error 200 if a file was changed since it was opened.
  Batch collate(const std::vector<size_t>& indices) const override;
  Facts facts() const override { return facts_; }
  int64_t inputs() const { return std::ssize(tensors_); }

 private:
  std::vector<torch::Tensor> tensors_;
  std::vector<MappedFile> files_;
  Facts facts_;
};

/// data.type tensors: a .pt or .npy file (data.path), or several of them (data.paths), told by content; their
/// tensors in order. @throws Error 200 naming file and cause.
std::unique_ptr<Dataset> make_tensor_dataset(const RunConfig& config);

}  // namespace flopmark
