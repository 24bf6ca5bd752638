#pragma once

#include <memory>
#include <vector>

#include "train/gradient_exchange.h"

namespace flopmark {

/// ZeRO stage 2 (Rajbhandari et al. 2020, arXiv:1910.02054): each rank keeps gradients, optimizer state and
/// updates of its own share of the parameters only. Parameters lie in buckets, flat; a bucket's gradients are
/// reduce-scattered as soon as all of them are there, and let go; after the update the shares are gathered.
///
/// Unlike data parallel, a parameter that gets no gradient counts as one with gradient 0.
class ShardedTraining : public RankExchange {
 public:
  /// Moves the parameters into buckets of about `bucket_bytes`: their values stay, their memory changes.
  /// @throws Error 125 for one that has gaps in memory or overlaps itself.
  ShardedTraining(RankGroup& group, int64_t bucket_bytes, std::vector<torch::Tensor> parameters);
  ~ShardedTraining() override;

  std::vector<torch::Tensor> updated(const std::vector<torch::Tensor>& parameters) override;
  std::function<void(torch::Tensor&)> whole_square_sum() override;
  void begin_block(int64_t steps) override;
  void backward(const torch::Tensor& loss, const torch::Tensor& start, bool last) override;
  void after_update() override;
  std::string collective() const override { return "reduce_scatter+all_gather"; }

 private:
  struct Bucket;
  class Hook;

  void make_buckets(int64_t bucket_bytes);
  bool fits(const std::vector<size_t>& members, size_t parameter) const;
  void fill(Bucket& bucket, const std::vector<size_t>& members);
  void take_gradient(size_t parameter);
  void reduce_ready_buckets(bool all);
  void reduce(Bucket& bucket);
  void finish(Bucket& bucket);
  void finish_before(size_t bucket);

  std::vector<torch::Tensor> parameters_;
  std::vector<std::unique_ptr<Bucket>> buckets_;  ///< in the order in which backward usually fills them
  std::vector<size_t> bucket_of_, place_of_;      ///< per parameter: its bucket, and its place there
  bool taking_ = false;                           ///< backward of the last micro-batch runs
  size_t next_ = 0;                               ///< bucket to reduce next
  size_t finished_ = 0;                           ///< buckets whose shares are there
};

}  // namespace flopmark
