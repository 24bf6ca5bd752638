#pragma once

#include <memory>
#include <vector>

#include "config/run_config.h"
#include "data/mapped_file.h"
#include "flopmark/dataset.h"

namespace flopmark {

/// CIFAR-10's binary files one after the other, normalised by the training set's own mean and deviation.
class CifarDataset : public Dataset {
 public:
  /// Files that check_cifar_file() has passed.
  CifarDataset(std::vector<MappedFile> files, Facts facts);
  int64_t size() const override { return size_; }
  /// @throws Error 200 if a file was changed since it was opened.
  Batch collate(const std::vector<size_t>& indices) const override;
  Facts facts() const override { return facts_; }

 private:
  const std::byte* record(int64_t index) const;

  std::vector<MappedFile> files_;
  Facts facts_;
  int64_t size_ = 0;
};

/// data.type cifar10, checked whole. @throws Error 200: as cifar_files() and check_cifar_file(); a model
/// for other images or with fewer than 10 classes.
std::unique_ptr<Dataset> make_cifar_dataset(const RunConfig& config);

}  // namespace flopmark
