#pragma once

#include <memory>

#include "config/run_config.h"
#include "data/mapped_file.h"
#include "data/token_file.h"
#include "flopmark/dataset.h"

namespace flopmark {

/// Ids of a mapped file in windows of T + 1 that share their border: sample i is the ids from i * T to (i +
/// 1) * T, both included; its first T are inputs[0], its last T inputs[1].
class SequenceDataset : public Dataset {
 public:
  /// `sequence_length` is T, >= 1; the file holds at least T + 1 ids.
  SequenceDataset(MappedFile file, TokenLayout layout, int64_t sequence_length, Facts facts);
  int64_t size() const override { return (layout_.count - 1) / sequence_length_; }
  /// @throws Error 200 if the file was changed since it was opened.
  Batch collate(const std::vector<size_t>& indices) const override;
  Facts facts() const override { return facts_; }

 private:
  MappedFile file_;
  TokenLayout layout_;
  int64_t sequence_length_;
  Facts facts_;
};

/// data.type text (every byte an id) and tokens (see token_layout), checked whole. @throws Error 200.
std::unique_ptr<Dataset> make_sequence_dataset(const RunConfig& config);

}  // namespace flopmark
