#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <string>

namespace flopmark {

/// What a backend of collectives is made from.
struct RankBackendOptions {
  c10::intrusive_ptr<c10d::Store> store;
  int rank = 0, ranks = 1;
  std::chrono::milliseconds timeout{60000};
  std::string address;  ///< gloo: this host's address that the others reach; empty: of its name
};

/// Gloo, over TCP between `address`es; GLOO_SOCKET_IFNAME names other interfaces. Returns when all ranks are
/// connected. @throws what LibTorch throws where one does not come.
c10::intrusive_ptr<c10d::Backend> make_gloo_backend(const RankBackendOptions& options);

/// NCCL. Defined where LibTorch's CUDA libraries are linked and NCCL's header is. Connects at the first
/// collective.
c10::intrusive_ptr<c10d::Backend> make_nccl_backend(const RankBackendOptions& options);

}  // namespace flopmark
