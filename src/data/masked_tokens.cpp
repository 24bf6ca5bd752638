#include "data/masked_tokens.h"

#include <ATen/ops/full_like.h>
#include <fmt/format.h>

#include "data/mix.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr uint64_t kPercent = 100, kChosenPercent = 15, kMaskPercent = 80, kRandomPercent = 10;
/// Other random numbers than the synthetic tokens are made of.
constexpr uint64_t kOwnStream = 0x6d61736b;

/// A row per sample is written to. Of a plug-in only the first batch is known.
void check_ids(const torch::Tensor& ids, int64_t samples) {
  if (ids.scalar_type() == torch::kLong && ids.dim() == 2 && ids.size(0) == samples) return;
  throw usage_error(fmt::format(
      "model.type bert masks token ids Long [{0}, T] of a batch of {0} samples, but the data gave {1} {2}; "
      "change the data set",
      samples, c10::toString(ids.scalar_type()), c10::str(ids.sizes())));
}

}  // namespace

/// Changes one sequence and fills in its targets, which are kNoTarget before.
void MaskedTokens::mask(int64_t* ids, int64_t* targets, int64_t length, uint64_t seed) const {
  const auto places = static_cast<uint64_t>(length);
  // Chosen whatever the dice say.
  const uint64_t always = scale_to(splitmix64(seed, 3 * places), places);
  for (uint64_t t = 0; t < places; ++t) {
    const bool chosen = scale_to(splitmix64(seed, 3 * t), kPercent) < kChosenPercent;
    if (!chosen && t != always) continue;
    targets[t] = ids[t];
    const uint64_t dice = scale_to(splitmix64(seed, 3 * t + 1), kPercent);
    if (dice < kMaskPercent) {
      ids[t] = options_.vocab_size - 1;
    } else if (dice < kMaskPercent + kRandomPercent) {
      ids[t] = static_cast<int64_t>(
          scale_to(splitmix64(seed, 3 * t + 2), static_cast<uint64_t>(options_.vocab_size)));
    }
  }
}

Batch MaskedTokens::collate(const std::vector<size_t>& indices) const {
  Batch batch = sequences_->collate(indices);
  check_ids(batch.inputs.at(0), std::ssize(indices));
  const torch::Tensor ids = batch.inputs.at(0).clone(at::MemoryFormat::Contiguous);
  const torch::Tensor targets = at::full_like(ids, kNoTarget);
  const int64_t length = ids.size(1);
  const uint64_t seed = splitmix64(static_cast<uint64_t>(options_.seed), kOwnStream);
  auto* row = ids.mutable_data_ptr<int64_t>();
  auto* row_targets = targets.mutable_data_ptr<int64_t>();
  for (const size_t index : indices) {
    mask(row, row_targets, length, splitmix64(seed, index));
    row += length;
    row_targets += length;
  }
  batch.inputs = {ids, targets};
  return batch;
}

}  // namespace flopmark
