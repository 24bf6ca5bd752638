#include "train/gradient_exchange.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <numeric>

#include "train/data_parallel.h"
#include "train/rank_links.h"
#include "train/sharded_training.h"

namespace flopmark {
namespace {

double mean_of(const std::vector<double>& values) {
  return values.empty()
             ? 0
             : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

void RankExchange::begin_together(int64_t steps, int64_t collectives) {
  log_->reserve(steps, collectives);
  group_.wait_for_all();
}

void RankExchange::end_block(int64_t steps, BlockFacts& facts) {
  const c10::AutoGradMode no_grad(false);
  if (!facts.losses.empty()) {
    const auto options = torch::TensorOptions().dtype(torch::kDouble);
    const auto losses = at::from_blob(facts.losses.data(), {std::ssize(facts.losses)}, options)
                            .mul(share())
                            .to(group_.links().device);
    group_.all_reduce(losses, Combine::sum);
    at::from_blob(facts.losses.data(), {std::ssize(facts.losses)}, options).copy_(losses);
  }
  const ExchangeLog::Times times = log_->read(steps);
  times_ = {.compute_s = mean_of(times.compute_s),
            .total_s = mean_of(times.total_s),
            .exposed_s = mean_of(times.in_backward_s) + mean_of(times.in_update_s),
            .bytes = bytes_};
  facts.exchange_in_backward_s = times.in_backward_s;
  facts.exchange_in_update_s = times.in_update_s;
}

std::unique_ptr<GradientExchange> make_exchange(RankGroup& group, const ParallelConfig& parallel,
                                                const TrainConfig& train,
                                                const std::vector<torch::Tensor>& parameters) {
  if (parallel.sharding == "zero2") {
    return std::make_unique<ShardedTraining>(group, parallel.bucket_bytes, parameters);
  }
  return std::make_unique<DataParallel>(group, parallel.bucket_bytes,
                                        train.activation_checkpointing.blocks > 0, parameters);
}

}  // namespace flopmark
