#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "launch/launch.h"
#include "launch/worker_watch.h"

namespace flopmark {

/// How the worker of one rank ended, and where it was to leave its samples.
struct RankEnd {
  int64_t rank = 0;
  WorkerEnd end;
  std::filesystem::path samples;
};

/// Whether a worker ended as one does that has measured.
bool ended_well(const WorkerEnd& end, const std::filesystem::path& samples);

/// The outcome of a job of several ranks; `ends` by rank (not empty), `troubled` the indices of those that
/// did not end well, in the order in which that showed. What ended a rank by its own doing comes before what
/// it says of others (kind peer_lost); a rank that was killed without a word, while others say that they lost
/// one, is the one that hung (kind timeout). The failure names rank and host, unless all ranks failed alike
/// or share what failed: the loss. Samples are those of the first of `ends`, of a job that ended well.
/// @throws as judge_end; an Error that not all ranks report alike is told with the rank.
LaunchOutcome judge_ranks(const std::vector<RankEnd>& ends, const std::vector<size_t>& troubled,
                          const LaunchRequest& request);

}  // namespace flopmark
