#include "train/data_parallel.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>

#include "flopmark/error.h"
#include "train/error_text.h"
#include "train/rank_links.h"

namespace flopmark {
namespace {

struct HookTargets {
  c10d::ProcessGroup* group;
  std::shared_ptr<ExchangeLog> log;
  std::shared_ptr<std::atomic<bool>> failed;
};

/// Sums a bucket over the ranks, as the Reducer does by itself, and notes when it began and ended. Gradients
/// arrive divided by the ranks already (GradientExchange::share).
class TimedAllReduce : public c10d::CppCommHookInterface<HookTargets> {
 public:
  using CppCommHookInterface::CppCommHookInterface;

  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    const size_t collective = state_.log->begin_collective();
    std::vector<at::Tensor> buffers{bucket.getBufferRef()};
    try {
      const auto future = state_.group->allreduce(buffers)->getFuture();
      // A future of its own, so that who waits for it finds the end noted.
      return future->then(
          [targets = state_, collective](c10::ivalue::Future& done) -> c10::IValue {
            if (done.hasError()) targets.failed->store(true);
            targets.log->end_collective(collective);
            return done.value();
          },
          future->elementType());
    } catch (...) {
      state_.failed->store(true);
      throw;
    }
  }
};

/// On a parameter that is not exchanged.
class LateGradient : public torch::autograd::PostAccumulateGradHook {
 public:
  void operator()(const torch::autograd::Variable& /*parameter*/) override {
    throw judge_error(
        "a parameter that had no gradient in the first step has one in a later step, so that the ranks would "
        "not exchange it: models whose parameters are used by turns need parallel.ranks 1");
  }
};

/// A number for each parameter, combined over the ranks.
std::vector<int64_t> combined_marks(RankGroup& group, std::vector<int64_t> marks, Combine combine) {
  const auto options = torch::TensorOptions().dtype(torch::kLong);
  const auto host = at::from_blob(marks.data(), {std::ssize(marks)}, options);
  const auto combined = host.to(group.links().device, /*non_blocking=*/false, /*copy=*/true);
  group.all_reduce(combined, combine);
  host.copy_(combined);
  return marks;
}

}  // namespace

DataParallel::DataParallel(RankGroup& group, int64_t bucket_bytes, bool checkpoints,
                           std::vector<torch::Tensor> parameters)
    : RankExchange(group, group.links().device),
      bucket_bytes_(bucket_bytes),
      checkpoints_(checkpoints),
      parameters_(std::move(parameters)) {}

DataParallel::~DataParallel() {
  for (const auto& parameter : left_out_) torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
}

void DataParallel::begin_block(int64_t steps) {
  sort_buckets();
  begin_together(steps, buckets_);
}

void DataParallel::before_forward(bool last) {
  if (!last || !on_ || !reducer_) return;
  sort_buckets();
  reducer_->prepare_for_forward();
}

/// After the first exchange the Reducer sorts its buckets anew, once, by the order of the gradients.
void DataParallel::sort_buckets() {
  if (reducer_ && reducer_->rebuild_buckets()) note_buckets();
}

void DataParallel::backward(const torch::Tensor& loss, const torch::Tensor& start, bool last) {
  if (!last || !on_ || nothing_to_exchange_) {
    loss.backward(start);
  } else if (reducer_) {
    backward_with_exchange(loss, start);
  } else {
    loss.backward(start);
    finish_first_step();
  }
}

void DataParallel::backward_with_exchange(const torch::Tensor& loss, const torch::Tensor& start) {
  try {
    reducer_->prepare_for_backward({loss});
    loss.backward(start);
  } catch (const std::exception& error) {
    if (collective_failed_->load()) {
      throw PeerLost("the all-reduce of gradients between the ranks failed: " + first_line_of(error));
    }
    throw;
  }
  if (log_->collectives_in_step() < buckets_) {
    throw judge_error(
        "a parameter that had a gradient in the first step has none in this one, so that this rank cannot "
        "take part in the exchange: models whose parameters are used by turns need parallel.ranks 1");
  }
}

void DataParallel::finish_first_step() {
  const c10::AutoGradMode no_grad(false);
  std::vector<int64_t> own;
  for (const auto& parameter : parameters_) own.push_back(parameter.grad().defined() ? 1 : 0);
  const auto anywhere = combined_marks(group_, own, Combine::max);
  const auto everywhere = combined_marks(group_, own, Combine::min);
  std::vector<torch::Tensor> used;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (anywhere[i] == 0) {
      torch::autograd::impl::set_post_acc_grad_hooks(parameters_[i], std::make_unique<LateGradient>());
      left_out_.push_back(parameters_[i]);
      continue;
    }
    auto& gradient = parameters_[i].mutable_grad();
    if (!gradient.defined()) gradient = at::zeros_like(parameters_[i]);
    if (gradient.is_sparse()) {
      throw judge_error(
          "a parameter of the model has sparse gradients, which several ranks cannot exchange here");
    }
    auto values = gradient.contiguous();
    group_.all_reduce(values, Combine::sum);
    if (!values.is_alias_of(gradient)) gradient.copy_(values);
    used.push_back(parameters_[i]);
  }
  make_reducer(used, anywhere != everywhere);
}

void DataParallel::make_reducer(const std::vector<torch::Tensor>& used, bool find_unused) {
  if (find_unused && checkpoints_) {
    throw judge_error(
        "a parameter has a gradient on some ranks only, which cannot be found in each step where blocks run "
        "forward again: set train.activation_checkpointing to none, or parallel.ranks to 1");
  }
  nothing_to_exchange_ = used.empty();
  if (nothing_to_exchange_) return;
  const std::vector<bool> dense(used.size(), false);
  const auto first_bytes = std::min<int64_t>(c10d::kDefaultFirstBucketBytes, bucket_bytes_);
  auto buckets = std::get<0>(c10d::compute_bucket_assignment_by_size(
      used, {static_cast<size_t>(first_bytes), static_cast<size_t>(bucket_bytes_)}, dense));
  std::reverse(buckets.begin(), buckets.end());  // the last layers' gradients come first
  reducer_ = std::make_unique<c10d::Reducer>(
      used, std::move(buckets), group_.links().group, dense, bucket_bytes_, find_unused,
      /*gradient_as_bucket_view=*/false, /*param_names=*/std::unordered_map<size_t, std::string>{},
      first_bytes,
      /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false,
      /*bucket_bytes_cap_list=*/std::vector<int64_t>{});
  reducer_->register_comm_hook(std::make_unique<TimedAllReduce>(
      HookTargets{.group = group_.links().group.get(), .log = log_, .failed = collective_failed_}));
  note_buckets();
}

/// How many collectives a step takes, and their bytes.
void DataParallel::note_buckets() {
  buckets_ = 0;
  bytes_ = 0;
  for (const auto& bucket : reducer_->get_grad_buckets(/*return_zero_tensors=*/false)) {
    ++buckets_;
    bytes_ += static_cast<int64_t>(bucket.getBuffer().nbytes());
  }
}

}  // namespace flopmark
