#include <fmt/format.h>

#include <set>

#include "metrics/ranks.h"
#include "results/run_warnings.h"

namespace flopmark {
namespace {

constexpr double kSlowRank = 0.10;

std::optional<Warning> slow_rank(const RunRecord& record) {
  const auto slowest = slowest_rank(record.ranks);
  if (!slowest || slowest->excess_ratio <= kSlowRank) return std::nullopt;
  const RankSummary& rank = *slowest->rank;
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

std::vector<Warning> rank_warnings(const RunRecord& record) {
  std::vector<Warning> warnings;
  for (const auto find : {slow_rank, devices_differ, exposed_unknown}) {
    if (auto found = find(record)) warnings.push_back(std::move(*found));
  }
  return warnings;
}

}  // namespace flopmark
