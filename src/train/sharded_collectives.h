#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <memory>

#include "train/exchange_log.h"

namespace flopmark {

// LibTorch renamed both between 2.11 and 2.15.

template <typename Group>
c10::intrusive_ptr<c10d::Work> start_reduce_scatter(Group& group, at::Tensor& share, at::Tensor& whole) {
  if constexpr (requires { group.reduce_scatter_single(share, whole); }) {
    return group.reduce_scatter_single(share, whole);
  } else {
    return group._reduce_scatter_base(share, whole);
  }
}

template <typename Group>
c10::intrusive_ptr<c10d::Work> start_all_gather(Group& group, at::Tensor& whole, at::Tensor& share) {
  if constexpr (requires { group.all_gather_single(whole, share); }) {
    return group.all_gather_single(whole, share);
  } else {
    return group._allgather_base(whole, share);
  }
}

/// Notes the collective's end in `log` when `work` is done, where the backend tells that. @returns what to
/// wait for then, after the work; null where it does not tell.
inline c10::intrusive_ptr<c10::ivalue::Future> note_end_of(c10d::Work& work,
                                                           const std::shared_ptr<ExchangeLog>& log,
                                                           size_t collective) {
  try {
    const auto future = work.getFuture();
    if (!future) return nullptr;
    return future->then(
        [log, collective](c10::ivalue::Future& done) -> c10::IValue {
          log->end_collective(collective);
          return done.value();
        },
        future->elementType());
  } catch (const c10::Error&) {
    return nullptr;
  }
}

}  // namespace flopmark
