#include "data/sample_order.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/types.h>

#include <stdexcept>

#include "data/mix.h"

namespace flopmark {

SampleOrder::SampleOrder(const SampleOrderOptions& options) : options_(options) {
  if (options.size < 1 || options.batch_size < 1)
    throw std::invalid_argument("an order needs samples and a batch size");
  if (options.ranks < 1 || options.rank < 0 || options.rank >= options.ranks)
    throw std::invalid_argument("an order needs a rank from 0 to ranks - 1");
  const int64_t of_all_ranks = options.batch_size * options.ranks;
  if (!options.drop_last) short_batch_ = options.size % of_all_ranks / options.ranks;
  batches_per_epoch_ = options.size / of_all_ranks + (short_batch_ > 0 ? 1 : 0);
  if (batches_per_epoch_ == 0) throw std::invalid_argument("an epoch without a whole batch");
}

void SampleOrder::indices_of(int64_t batch, std::vector<size_t>& indices) {
  const int64_t number = batch % batches_per_epoch_;
  const bool is_short = short_batch_ > 0 && number + 1 == batches_per_epoch_;
  const int64_t count = is_short ? short_batch_ : options_.batch_size;
  const int64_t first = number * options_.batch_size * options_.ranks + options_.rank * count;
  const int64_t last = first + count;
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
