#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "flopmark/dataset.h"

namespace flopmark {

/// Token sequences made into exercises of masked-language training (Devlin et al. 2018, arXiv:1810.04805,
/// section 3.1): 15 % of a sequence's tokens are chosen; of those, 80 % become the mask id, 10 % a random id,
/// the others stay. inputs[0] is the changed sequence, inputs[1] the chosen tokens as they were and
/// kNoTarget everywhere else. At least one token of each sequence is chosen. Which ones depends on the seed
/// and the number of the sample alone, in every epoch: the masking of the paper's released code.
class MaskedTokens : public Dataset {
 public:
  /// What LibTorch's cross entropy leaves out.
  static constexpr int64_t kNoTarget = -100;
  struct Options {
    int64_t vocab_size = 1;  ///< the last id stands for the mask
    int64_t seed = 0;
  };
  /// `sequences` gives ids int64 [B, T] as inputs[0], a row per sample; what else it gives is dropped.
  MaskedTokens(std::unique_ptr<Dataset> sequences, const Options& options)
      : sequences_(std::move(sequences)), options_(options) {}
  int64_t size() const override { return sequences_->size(); }
  /// @throws Error 200 if the sequences are something else.
  Batch collate(const std::vector<size_t>& indices) const override;
  Facts facts() const override { return sequences_->facts(); }

 private:
  void mask(int64_t* ids, int64_t* targets, int64_t length, uint64_t seed) const;

  std::unique_ptr<Dataset> sequences_;
  Options options_;
};

}  // namespace flopmark
