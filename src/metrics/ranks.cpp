#include "metrics/ranks.h"

#include <algorithm>
#include <numeric>

#include "stats/quantile.h"

namespace flopmark {
namespace {

/// Sums over the steps of all launches, of one rank.
struct RankSums {
  RankSummary summary;
  double step_s = 0, compute_s = 0, communication_s = 0, exposed_s = 0;
  double wall_s = 0, steps = 0, samples = 0;
};

void add_launch(const RankSamples& rank, const BlockSamples& timed, RankSums& sums) {
  RankSummary& summary = sums.summary;
  summary.rank = rank.rank;
  summary.host = rank.host;
  summary.device_name = rank.device_name;
  summary.device_uuid = rank.device_uuid;
  if (rank.memory_peak_bytes) {
    summary.memory_peak_bytes = std::max(summary.memory_peak_bytes.value_or(0), *rank.memory_peak_bytes);
  }
  const auto steps = static_cast<double>(timed.steps);
  sums.steps += steps;
  sums.step_s += std::accumulate(rank.step_s.begin(), rank.step_s.end(), 0.0);
  sums.compute_s += rank.compute_s * steps;
  sums.communication_s += rank.communication_s * steps;
  sums.exposed_s += rank.communication_exposed_s * steps;
  sums.samples += static_cast<double>(rank.samples);
  sums.wall_s += timed.wall_s;
}

RankSummary mean_of(const RankSums& sums) {
  RankSummary summary = sums.summary;
  if (sums.steps > 0) {
    summary.step_s = sums.step_s / sums.steps;
    summary.compute_s = sums.compute_s / sums.steps;
    summary.communication_s = sums.communication_s / sums.steps;
    summary.communication_exposed_s = sums.exposed_s / sums.steps;
  }
  if (sums.wall_s > 0) summary.samples_per_s = sums.samples / sums.wall_s;
  return summary;
}

double mean_over(const std::vector<RankSummary>& ranks, double RankSummary::*member) {
  double sum = 0;
  for (const RankSummary& rank : ranks) sum += rank.*member;
  return sum / static_cast<double>(ranks.size());
}

/// Of the rank that is inside collectives for the shortest time: the others wait there for slower ones.
std::optional<double> bus_bandwidth(const CommunicationSummary& communication,
                                    const std::vector<RankSummary>& ranks) {
  double shortest_s = ranks.front().communication_s;
  for (const RankSummary& rank : ranks) shortest_s = std::min(shortest_s, rank.communication_s);
  if (!(shortest_s > 0) || communication.bytes_per_step <= 0) return std::nullopt;
  return static_cast<double>(communication.bytes_per_step) / shortest_s *
         bus_bandwidth_factor(communication.collective, std::ssize(ranks));
}

/// The mean of the launches that know it, else why none does.
void add_exposed_ratio(const std::vector<LaunchSamples>& launches, CommunicationSummary& summary) {
  double sum = 0;
  int64_t known = 0;
  for (const LaunchSamples& launch : launches) {
    if (!launch.communication) continue;
    if (launch.communication->exposed_ratio) {
      sum += *launch.communication->exposed_ratio;
      ++known;
    } else if (!launch.communication->exposed_reason.empty()) {
      summary.exposed_reason = launch.communication->exposed_reason;
    }
  }
  if (known == 0) return;
  summary.exposed_ratio = sum / static_cast<double>(known);
  summary.exposed_reason.reset();
}

}  // namespace

std::vector<RankSummary> summarize_ranks(const std::vector<LaunchSamples>& launches) {
  std::vector<RankSums> sums;
  for (const LaunchSamples& launch : launches) {
    if (sums.size() < launch.ranks.size()) sums.resize(launch.ranks.size());
    for (size_t i = 0; i < launch.ranks.size(); ++i) add_launch(launch.ranks[i], launch.timed, sums[i]);
  }
  std::vector<RankSummary> ranks;
  for (const RankSums& rank : sums) ranks.push_back(mean_of(rank));
  return ranks;
}

std::optional<CommunicationSummary> summarize_communication(const std::vector<LaunchSamples>& launches) {
  const std::vector<RankSummary> ranks = summarize_ranks(launches);
  const auto described = std::find_if(launches.begin(), launches.end(), [](const LaunchSamples& launch) {
    return launch.communication.has_value();
  });
  if (ranks.empty() || described == launches.end()) return std::nullopt;
  CommunicationSummary summary;
  summary.backend = described->communication->backend;
  summary.collective = described->communication->collective;
  for (const RankSamples& rank : described->ranks) {
    summary.bytes_per_step = std::max(summary.bytes_per_step, rank.communication_bytes);
  }
  summary.total_s = mean_over(ranks, &RankSummary::communication_s);
  summary.exposed_s = mean_over(ranks, &RankSummary::communication_exposed_s);
  summary.bus_bandwidth_bytes_per_s = bus_bandwidth(summary, ranks);
  add_exposed_ratio(launches, summary);
  return summary;
}

double bus_bandwidth_factor(const std::string& collective, int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  return (collective == "all_reduce" ? 2 : 1) * (n - 1) / n;
}

std::optional<SlowestRank> slowest_rank(const std::vector<RankSummary>& ranks) {
  if (ranks.size() < 2) return std::nullopt;
  const auto slowest =
      std::max_element(ranks.begin(), ranks.end(),
                       [](const RankSummary& a, const RankSummary& b) { return a.compute_s < b.compute_s; });
  if (!(slowest->compute_s > 0)) return std::nullopt;
  std::vector<double> others_s;
  for (const RankSummary& rank : ranks) {
    if (&rank != &*slowest) others_s.push_back(rank.compute_s);
  }
  const double usual_s = median(others_s);
  return SlowestRank{&*slowest, usual_s > 0 ? slowest->compute_s / usual_s - 1 : 0};
}

double slowest_share(const std::vector<LaunchSamples>& launches, int64_t rank, double excess_ratio) {
  const auto is_slow = [&](const LaunchSamples& launch) {
    const std::vector<RankSummary> ranks = summarize_ranks({launch});
    const auto slowest = slowest_rank(ranks);
    return slowest && slowest->rank->rank == rank && slowest->excess_ratio > excess_ratio;
  };
  const auto slow = std::count_if(launches.begin(), launches.end(), is_slow);
  return launches.empty() ? 0 : static_cast<double>(slow) / static_cast<double>(launches.size());
}

}  // namespace flopmark
