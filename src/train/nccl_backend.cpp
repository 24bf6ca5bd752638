// LibTorch's header of NCCL is empty without this; its CUDA library is so built that it holds it.
#define USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "train/rank_backend.h"

namespace flopmark {

c10::intrusive_ptr<c10d::Backend> make_nccl_backend(const RankBackendOptions& options) {
  auto nccl = c10d::ProcessGroupNCCL::Options::create();
  nccl->timeout = options.timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(options.store, options.rank, options.ranks, nccl);
}

}  // namespace flopmark
