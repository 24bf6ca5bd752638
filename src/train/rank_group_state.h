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
  std::string self;  ///< no other process, and no other group of this one, calls itself so
  std::unique_ptr<RankStore> store;
  std::vector<Host> hosts;   ///< by rank; names are empty before they have met
  bool peer_failed = false;  ///< another rank has noted a failure

  /// @throws PeerLost naming the ranks that have not written these keys, one per rank, and what to do.
  [[noreturn]] void refuse_missing(const std::vector<std::string>& keys);
  /// Of the store, within `limit_s` a call.
  std::optional<Noted> noted_by(int64_t rank, double limit_s);
  /// That no other process is this rank of this meeting. @throws Error 200
  void come_once();
  std::string meeting_place() const;  ///< for messages
  std::vector<std::string> host_names() const;
};

}  // namespace flopmark
