#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace flopmark {

struct SampleOrderOptions {
  int64_t size = 1;  ///< samples per epoch, >= 1
  int64_t batch_size = 1;
  bool drop_last = true;
  bool shuffle = true;
  int64_t seed = 0;
  int64_t rank = 0, ranks = 1;  ///< whose batches, 0 <= rank < ranks
};

/// Which samples batch k consists of, for every k >= 0, epoch after epoch: a function of the options and k
/// alone, so that the number and the speed of loader threads cannot change it. Thread-safe.
///
/// LibTorch's RandomSampler draws from the process-wide generator, which would tie the order to everything
/// else that draws (dropout, initialisation) and disturb it in turn; it cannot be given a seed. So each epoch
/// is LibTorch's randperm under a generator of its own, seeded from (seed, epoch). Without shuffle it is
/// arithmetic.
///
/// Several ranks share each epoch: batch k of rank r is the r-th of the `ranks` parts of the batch k that one
/// rank with batches of ranks * batch_size would have. All ranks have equally many batches, of equal sizes.
class SampleOrder {
 public:
  explicit SampleOrder(const SampleOrderOptions& options);
  /// The samples of `batch`, written over `indices` (its capacity is reused). Fewer than batch_size only in
  /// the last batch of an epoch without drop_last; of what is left there each rank has an equal part, and up
  /// to ranks - 1 samples nobody.
  void indices_of(int64_t batch, std::vector<size_t>& indices);
  int64_t batches_per_epoch() const { return batches_per_epoch_; }

 private:
  struct Epoch {
    int64_t number = -1;
    std::vector<int64_t> permutation;
  };
  const std::vector<int64_t>& permutation_of(int64_t epoch);

  SampleOrderOptions options_;
  int64_t short_batch_ = 0;  ///< samples in the batch that an epoch may end with
  int64_t batches_per_epoch_;
  std::mutex mutex_;
  Epoch recent_[2];  ///< batches in hand lie mostly in one epoch or two neighbours; others are made anew
};

}  // namespace flopmark
