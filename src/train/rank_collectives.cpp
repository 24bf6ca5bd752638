// The collectives of RankGroup, on c10d's process group.
#include <ATen/ops/full.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "flopmark/error.h"
#include "train/error_text.h"
#include "train/own_address.h"
#include "train/rank_backend.h"
#include "train/rank_group.h"
#include "train/rank_group_state.h"
#include "train/rank_links.h"
#include "train/rank_store_state.h"
#include "train/time_limit.h"

namespace flopmark {
namespace {

using BackendType = c10d::ProcessGroup::BackendType;

/// Waits for what a collective returned. @throws PeerLost
template <typename Start>
void run_collective(const char* name, Start start) {
  try {
    start()->wait();
  } catch (const std::exception& error) {
    throw PeerLost(fmt::format("the {} between the ranks failed: {}", name, first_line_of(error)));
  }
}

c10::intrusive_ptr<c10d::Backend> make_backend(const std::string& name, const RankBackendOptions& options) {
#ifdef FLOPMARK_NCCL
  if (name == "nccl") return make_nccl_backend(options);
#else
  if (name == "nccl") {
    throw usage_error(
        "parallel.backend: nccl, but this worker is built without it (configure it with -DFLOPMARK_CUDA=ON, "
        "where NCCL's header is); use gloo");
  }
#endif
  return make_gloo_backend(options);
}

c10d::ReduceOp operation_of(Combine combine) {
  switch (combine) {
    case Combine::max:
      return c10d::ReduceOp::MAX;
    case Combine::min:
      return c10d::ReduceOp::MIN;
    case Combine::sum:
      break;
  }
  return c10d::ReduceOp::SUM;
}

}  // namespace

void RankGroup::connect(const std::string& backend, const torch::Device& device) {
  const RankPlace& place = state_->options.place;
  RankBackendOptions options{
      .store = c10::make_intrusive<c10d::PrefixStore>("collectives", state_->store->state().store),
      .rank = static_cast<int>(place.rank),
      .ranks = static_cast<int>(place.ranks),
      .timeout = std::chrono::milliseconds(static_cast<int64_t>(timeout_s() * 1e3)),
      .address = place.meeting_file.empty() ? own_address_toward(place.master_address, place.master_port)
                                            : std::string("127.0.0.1")};
  const auto made = std::make_shared<c10::intrusive_ptr<c10d::Backend>>();
  bool in_time = false;
  try {
    in_time =
        ends_within(timeout_s() + 2, [made, backend, options] { *made = make_backend(backend, options); });
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw PeerLost(fmt::format("the ranks met, but cannot connect to each other from {} ({}): {}",
                               options.address.empty() ? own_host_name() : options.address, backend,
                               first_line_of(error)));
  }
  if (!in_time) throw PeerLost(fmt::format("the ranks met, but do not connect within {:g} s", timeout_s()));
  const auto type = backend == "nccl" ? BackendType::NCCL : BackendType::GLOO;
  links_ = std::make_unique<Links>();
  links_->group = c10::make_intrusive<c10d::ProcessGroup>(options.store, options.rank, options.ranks);
  links_->group->setBackend(device.type(), type, *made);
  links_->group->setDefaultBackend(type);
  links_->backend = backend;
  links_->device = device;
}

void RankGroup::all_reduce(torch::Tensor values, Combine combine) {
  std::vector<torch::Tensor> list{std::move(values)};
  c10d::AllreduceOptions options;
  options.reduceOp = operation_of(combine);
  run_collective("all-reduce", [&] { return links_->group->allreduce(list, options); });
}

void RankGroup::broadcast(const std::vector<torch::Tensor>& values) {
  const c10::AutoGradMode no_grad(false);
  for (const torch::Tensor& each : values) {
    torch::Tensor own = each.detach();
    std::vector<torch::Tensor> list{own.contiguous()};
    run_collective("broadcast", [&] { return links_->group->broadcast(list); });
    if (!list.front().is_alias_of(own)) own.copy_(list.front());
  }
}

double RankGroup::combined(double value, Combine combine) {
  const c10::AutoGradMode no_grad(false);
  const auto scalar = at::full({1}, value, torch::TensorOptions(links_->device).dtype(torch::kDouble));
  all_reduce(scalar, combine);
  return scalar.item<double>();
}

bool RankGroup::all_agree(bool own) {
  return combined(own ? 1 : 0, Combine::min) > 0.5;
}

void RankGroup::wait_for_all() {
  all_agree(true);
}

}  // namespace flopmark
