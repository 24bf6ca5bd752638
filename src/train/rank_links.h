#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <string>

#include "train/rank_group.h"

namespace flopmark {

struct RankGroup::Links {
  c10::intrusive_ptr<c10d::ProcessGroup> group;
  std::string backend;  ///< gloo, nccl
  torch::Device device = torch::kCPU;
};

}  // namespace flopmark
