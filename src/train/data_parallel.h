#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "train/gradient_exchange.h"

namespace c10d {
class Reducer;
}

namespace flopmark {

/// Gradients summed over ranks by PyTorch's own engine, c10d::Reducer: in buckets, each all-reduced while
/// backward still computes the next.
///
/// The first step is different: which parameters get gradients is known after its backward only (the graph
/// does not tell where blocks run forward again), so their gradients are summed one by one then, and the
/// Reducer is made from those that had any. One that has a gradient on some ranks only makes it search for
/// unused parameters in each step; one that has none on any rank must not get one later: that ends the job.
class DataParallel : public RankExchange {
 public:
  DataParallel(RankGroup& group, int64_t bucket_bytes, bool checkpoints,
               std::vector<torch::Tensor> parameters);
  ~DataParallel() override;

  void begin_block(int64_t steps) override;
  void before_forward(bool last) override;
  void backward(const torch::Tensor& loss, const torch::Tensor& start, bool last) override;
  std::string collective() const override { return "all_reduce"; }

 private:
  void finish_first_step();
  void make_reducer(const std::vector<torch::Tensor>& used, bool find_unused);
  void sort_buckets();
  void note_buckets();
  void backward_with_exchange(const torch::Tensor& loss, const torch::Tensor& start);

  int64_t bucket_bytes_;
  bool checkpoints_;
  std::vector<torch::Tensor> parameters_;
  std::vector<torch::Tensor> left_out_;  ///< had no gradient on any rank in the first step
  std::unique_ptr<c10d::Reducer> reducer_;
  bool nothing_to_exchange_ = false;
  int64_t buckets_ = 0;
  std::shared_ptr<std::atomic<bool>> collective_failed_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace flopmark
