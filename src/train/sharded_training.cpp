#include "train/sharded_training.h"

#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include "flopmark/error.h"
#include "train/error_text.h"
#include "train/optimizer.h"
#include "train/rank_links.h"
#include "train/sharded_collectives.h"

namespace flopmark {
namespace {

/// Buckets whose reduce-scatters may be under way at a time: more would hold more gradients at once.
constexpr size_t kAtATime = 2;

/// Where in a bucket a parameter lies, with its own strides.
torch::Tensor part_of(const torch::Tensor& flat, int64_t offset, const torch::Tensor& like) {
  return flat.as_strided(like.sizes(), like.strides(), flat.storage_offset() + offset);
}

[[noreturn]] void refuse_collective(const char* name, const std::exception& error) {
  throw PeerLost(fmt::format("the {} between the ranks failed: {}", name, first_line_of(error)));
}

}  // namespace

struct ShardedTraining::Bucket {
  std::vector<size_t> members;   ///< parameters
  std::vector<int64_t> offsets;  ///< of each, in values
  torch::Tensor values;          ///< of all parameters, then zeros up to ranks x the share
  torch::Tensor share;           ///< own part of values
  torch::Tensor gradients;       ///< as values; undefined when not needed
  torch::Tensor share_gradient;  ///< as share
  size_t waits_for = 0;          ///< members whose gradients are still to come
  std::vector<bool> arrived;
  c10::intrusive_ptr<c10d::Work> work;            ///< under way; else null
  c10::intrusive_ptr<c10::ivalue::Future> noted;  ///< its end in the log; null: to be noted after the wait
  size_t collective = 0;                          ///< in the log

  void start(c10::intrusive_ptr<c10d::Work> started, const std::shared_ptr<ExchangeLog>& log, size_t as) {
    collective = as;
    work = std::move(started);
    noted = note_end_of(*work, log, collective);
  }
  void wait(ExchangeLog& log) {
    work->wait();
    if (noted) noted->wait();
    if (!noted) log.end_collective(collective);
    work.reset();
    noted.reset();
  }
};

class ShardedTraining::Hook : public torch::autograd::PostAccumulateGradHook {
 public:
  Hook(ShardedTraining& owner, size_t parameter) : owner_(owner), parameter_(parameter) {}
  void operator()(const torch::autograd::Variable& /*parameter*/) override {
    owner_.take_gradient(parameter_);
  }

 private:
  ShardedTraining& owner_;
  size_t parameter_;
};

ShardedTraining::ShardedTraining(RankGroup& group, int64_t bucket_bytes,
                                 std::vector<torch::Tensor> parameters)
    : RankExchange(group, group.links().device),
      parameters_(std::move(parameters)),
      bucket_of_(parameters_.size()),
      place_of_(parameters_.size()) {
  require_dense(parameters_);
  make_buckets(bucket_bytes);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    torch::autograd::impl::set_post_acc_grad_hooks(parameters_[i], std::make_unique<Hook>(*this, i));
  }
}

ShardedTraining::~ShardedTraining() {
  for (const auto& parameter : parameters_) {
    torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
  }
}

/// A bucket is one tensor: its parameters have one dtype and device.
bool ShardedTraining::fits(const std::vector<size_t>& members, size_t parameter) const {
  if (members.empty()) return true;
  const torch::Tensor &first = parameters_[members.front()], &next = parameters_[parameter];
  return first.scalar_type() == next.scalar_type() && first.device() == next.device();
}

/// Parameters from the last to the first, as backward reaches them.
void ShardedTraining::make_buckets(int64_t bucket_bytes) {
  const c10::AutoGradMode no_grad(false);
  std::vector<size_t> members;
  int64_t bytes = 0;
  const auto close = [&] {
    if (members.empty()) return;
    buckets_.push_back(std::make_unique<Bucket>());
    fill(*buckets_.back(), members);
    members.clear();
    bytes = 0;
  };
  for (size_t i = parameters_.size(); i-- > 0;) {
    const auto size = static_cast<int64_t>(parameters_[i].nbytes());
    if (bytes + size > bucket_bytes || !fits(members, i)) close();
    members.push_back(i);
    bytes += size;
  }
  close();
}

/// Moves these parameters into `bucket`, the last one made.
void ShardedTraining::fill(Bucket& bucket, const std::vector<size_t>& members) {
  bucket.members = members;
  int64_t size = 0;
  for (const size_t i : members) {
    bucket.offsets.push_back(size);
    size += parameters_[i].numel();
  }
  const int64_t share_size = (size + group_.ranks() - 1) / group_.ranks();
  const auto options = parameters_[members.front()].options().requires_grad(false);
  bucket.values = at::zeros({share_size * group_.ranks()}, options);
  for (size_t place = 0; place < members.size(); ++place) {
    torch::Tensor& parameter = parameters_[members[place]];
    const auto part = part_of(bucket.values, bucket.offsets[place], parameter);
    part.copy_(parameter);
    parameter.set_data(part);
    bucket_of_[members[place]] = buckets_.size() - 1;
    place_of_[members[place]] = place;
  }
  bucket.share = bucket.values.narrow(0, group_.rank() * share_size, share_size);
  bucket.share_gradient = at::zeros({share_size}, options);
  bytes_ += 2 * static_cast<int64_t>(bucket.values.nbytes());  // reduced and scattered, then gathered
}

std::vector<torch::Tensor> ShardedTraining::updated(const std::vector<torch::Tensor>& /*parameters*/) {
  std::vector<torch::Tensor> shares;
  for (const auto& bucket : buckets_) shares.push_back(bucket->share);
  return shares;
}

std::function<void(torch::Tensor&)> ShardedTraining::whole_square_sum() {
  return [this](torch::Tensor& sum) {
    if (!on_) return;
    log_->begin_wait();
    group_.all_reduce(sum, Combine::sum);
    log_->end_wait();
  };
}

void ShardedTraining::begin_block(int64_t steps) {
  begin_together(steps, 2 * std::ssize(buckets_));
}

void ShardedTraining::backward(const torch::Tensor& loss, const torch::Tensor& start, bool last) {
  if (!last) {
    loss.backward(start);
    return;
  }
  next_ = finished_ = 0;
  for (const auto& bucket : buckets_) {
    bucket->waits_for = bucket->members.size();
    bucket->arrived.assign(bucket->members.size(), false);
  }
  taking_ = true;
  loss.backward(start);
  taking_ = false;
  const c10::AutoGradMode no_grad(false);
  reduce_ready_buckets(/*all=*/true);
  finish_before(buckets_.size());
}

/// A parameter's gradient is complete: it moves to its bucket. Called from backward.
void ShardedTraining::take_gradient(size_t parameter) {
  if (!taking_) return;
  const c10::AutoGradMode no_grad(false);
  Bucket& bucket = *buckets_[bucket_of_[parameter]];
  const size_t place = place_of_[parameter];
  if (bucket.arrived[place])
    throw judge_error(
        "a parameter got a gradient twice in one backward, as where blocks that share it run forward again: "
        "set train.activation_checkpointing to none, or parallel.sharding to none");
  if (!bucket.gradients.defined()) bucket.gradients = at::zeros_like(bucket.values);
  auto& gradient = parameters_[parameter].mutable_grad();
  part_of(bucket.gradients, bucket.offsets[place], parameters_[parameter]).copy_(gradient);
  gradient.reset();
  bucket.arrived[place] = true;
  --bucket.waits_for;
  reduce_ready_buckets(/*all=*/false);
}

/// Starts the buckets in their order, which is the same on all ranks; `all`: those with missing gradients
/// too.
void ShardedTraining::reduce_ready_buckets(bool all) {
  while (next_ < buckets_.size() && (all || buckets_[next_]->waits_for == 0)) {
    if (next_ >= kAtATime) finish_before(next_ + 1 - kAtATime);
    reduce(*buckets_[next_++]);
  }
}

void ShardedTraining::reduce(Bucket& bucket) {
  for (size_t place = 0; place < bucket.members.size(); ++place) {  // of micro-batches before the last
    auto& gradient = parameters_[bucket.members[place]].mutable_grad();
    if (bucket.arrived[place] || !gradient.defined()) continue;
    if (!bucket.gradients.defined()) bucket.gradients = at::zeros_like(bucket.values);
    part_of(bucket.gradients, bucket.offsets[place], parameters_[bucket.members[place]]).copy_(gradient);
    gradient.reset();
  }
  if (!bucket.gradients.defined()) bucket.gradients = at::zeros_like(bucket.values);
  if (!on_) {
    bucket.share_gradient.copy_(
        bucket.gradients.narrow(0, bucket.share.storage_offset(), bucket.share.numel()));
    return;
  }
  const size_t collective = log_->begin_collective();
  try {
    bucket.start(start_reduce_scatter(*group_.links().group, bucket.share_gradient, bucket.gradients), log_,
                 collective);
  } catch (const std::exception& error) {
    refuse_collective("reduce-scatter of gradients", error);
  }
}

void ShardedTraining::finish(Bucket& bucket) {
  if (bucket.work) {
    log_->begin_wait();
    try {
      bucket.wait(*log_);
    } catch (const std::exception& error) {
      refuse_collective("reduce-scatter of gradients", error);
    }
    log_->end_wait();
  }
  bucket.gradients.reset();
  bucket.share.mutable_grad() = bucket.share_gradient;
}

/// Of the first `count` buckets the shares are there when this returns.
void ShardedTraining::finish_before(size_t count) {
  while (finished_ < count) finish(*buckets_[finished_++]);
}

void ShardedTraining::after_update() {
  if (!on_) return;
  const c10::AutoGradMode no_grad(false);
  try {
    for (const auto& bucket : buckets_) {
      const size_t collective = log_->begin_collective(/*in_update=*/true);
      bucket->start(start_all_gather(*group_.links().group, bucket->values, bucket->share), log_, collective);
    }
    for (const auto& bucket : buckets_) bucket->wait(*log_);
  } catch (const std::exception& error) {
    refuse_collective("all-gather of parameters", error);
  }
}

}  // namespace flopmark
