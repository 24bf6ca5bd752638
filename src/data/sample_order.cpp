#include "data/sample_order.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/types.h>

#include <algorithm>
#include <stdexcept>

#include "data/mix.h"

namespace flopmark {

SampleOrder::SampleOrder(const SampleOrderOptions& options) : options_(options) {
  if (options.size < 1 || options.batch_size < 1)
    throw std::invalid_argument("an order needs samples and a batch size");
  const int64_t whole = options.size / options.batch_size;
  const bool partial = !options.drop_last && options.size % options.batch_size != 0;
  batches_per_epoch_ = whole + (partial ? 1 : 0);
  if (batches_per_epoch_ == 0) throw std::invalid_argument("an epoch without a whole batch");
}

void SampleOrder::indices_of(int64_t batch, std::vector<size_t>& indices) {
  const int64_t first = batch % batches_per_epoch_ * options_.batch_size;
  const int64_t last = std::min(first + options_.batch_size, options_.size);
  indices.clear();
  if (!options_.shuffle) {
    for (int64_t i = first; i < last; ++i) indices.push_back(static_cast<size_t>(i));
    return;
  }
  const std::lock_guard lock(mutex_);
  const std::vector<int64_t>& permutation = permutation_of(batch / batches_per_epoch_);
  indices.assign(permutation.begin() + first, permutation.begin() + last);
}

const std::vector<int64_t>& SampleOrder::permutation_of(int64_t epoch) {
  Epoch& slot = recent_[epoch % 2];
  if (slot.number != epoch) {
    const uint64_t seed = splitmix64(static_cast<uint64_t>(options_.seed), static_cast<uint64_t>(epoch));
    const torch::Tensor order =
        at::randperm(options_.size, at::detail::createCPUGenerator(seed), torch::kInt64);
    const int64_t* values = order.const_data_ptr<int64_t>();
    slot.permutation.assign(values, values + options_.size);
    slot.number = epoch;
  }
  return slot.permutation;
}

}  // namespace flopmark
