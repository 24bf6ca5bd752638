#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flopmark/record.h"
#include "measure/samples.h"

namespace flopmark {

/// Every rank's means over the steps of all launches, by rank; empty for launches of one rank.
std::vector<RankSummary> summarize_ranks(const std::vector<LaunchSamples>& launches);

/// What the exchange between the ranks took; absent for launches of one rank.
std::optional<CommunicationSummary> summarize_communication(const std::vector<LaunchSamples>& launches);

/// What bytes per second of a collective are multiplied by to get the traffic on the slowest link
/// (nccl-tests, doc/PERFORMANCE.md): 2 (n - 1) / n of all_reduce, (n - 1) / n of all others. `ranks` >= 1.
double bus_bandwidth_factor(const std::string& collective, int64_t ranks);

/// The rank that computes longest before the collectives, so that the others wait for it. `excess_ratio`: its
/// compute time over the median of the others', minus 1; 0 where that says nothing.
struct SlowestRank {
  const RankSummary* rank = nullptr;  ///< one of the list asked about
  double excess_ratio = 0;
};
/// Absent with fewer than two ranks, or where no compute time was measured.
std::optional<SlowestRank> slowest_rank(const std::vector<RankSummary>& ranks);

/// The share of the launches in which `rank` is the slowest, by over `excess_ratio`: a rank that is slow of
/// itself is so in all of them. 0 for none.
double slowest_share(const std::vector<LaunchSamples>& launches, int64_t rank, double excess_ratio);

}  // namespace flopmark
