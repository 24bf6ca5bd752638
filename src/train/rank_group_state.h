#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/rank_group.h"

namespace flopmark {

struct RankGroup::State {
  using Time = std::chrono::steady_clock::time_point;

  Options options;
  std::unique_ptr<RankStore> store;
  std::vector<Host> hosts;   ///< by rank
  bool peer_failed = false;  ///< another rank has noted a failure

  /// @throws PeerLost naming the ranks that have not written these keys, one per rank, and what to do.
  [[noreturn]] void refuse_missing(const std::vector<std::string>& keys);
  std::optional<Noted> noted_by(int64_t rank);
};

}  // namespace flopmark
