#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "metrics/ranks.h"
#include "results/run_warnings.h"

namespace flopmark {
namespace {

/// Beyond the median of the others. Ranks that share a CPU's cores take them from each other by chance.
constexpr double kSlowRank = 0.10, kSlowRankOfSharedCores = 0.25;
constexpr double kMostLaunches = 0.75;

bool shares_cores(const RankSummary& rank, const RunRecord& record) {
  const auto here = std::count_if(record.ranks.begin(), record.ranks.end(),
                                  [&](const RankSummary& other) { return other.host == rank.host; });
  return !record.environment.cuda && here > 1;
}

/// The one that is slower in nearly every launch; another one in each is chance.
std::optional<Warning> slow_rank(const RunRecord& record, const std::vector<LaunchSamples>& launches) {
  const auto slowest = slowest_rank(record.ranks);
  if (!slowest) return std::nullopt;
  const RankSummary& rank = *slowest->rank;
  const double limit = shares_cores(rank, record) ? kSlowRankOfSharedCores : kSlowRank;
  if (slowest->excess_ratio <= limit || slowest_share(launches, rank.rank, limit) < kMostLaunches)
    return std::nullopt;
  return Warning{
      "slow_rank",
      fmt::format(
          "rank {} ({}, {}) computes for {:.4g} ms of a step outside the exchange, {:.0f} % longer than "
          "the median of the others, which wait for it: look at its device, its CPUs and its data",
          rank.rank, rank.host, rank.device_name, 1e3 * rank.compute_s, 100 * slowest->excess_ratio)};
}

std::optional<Warning> devices_differ(const RunRecord& record) {
  std::set<std::string> names;
  for (const RankSummary& rank : record.ranks) names.insert(rank.device_name);
  if (names.size() < 2) return std::nullopt;
  return Warning{"devices_differ",
                 fmt::format("the ranks run on different devices ({}): every step takes as long as on the "
                             "slowest of them",
                             fmt::join(names, ", "))};
}

std::optional<Warning> exposed_unknown(const RunRecord& record) {
  if (!record.communication || record.communication->exposed_ratio) return std::nullopt;
  return Warning{"exposed_unknown",
                 fmt::format("what a step loses by the exchange between ranks is not known: {}",
                             record.communication->exposed_reason.value_or("it was not measured"))};
}

}  // namespace

std::vector<Warning> rank_warnings(const RunRecord& record, const std::vector<LaunchSamples>& launches) {
  std::vector<Warning> warnings;
  for (auto& found : {slow_rank(record, launches), devices_differ(record), exposed_unknown(record)}) {
    if (found) warnings.push_back(*found);
  }
  return warnings;
}

}  // namespace flopmark
