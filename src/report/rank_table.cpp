#include "report/rank_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "config/rank_names.h"
#include "metrics/ranks.h"
#include "report/grid.h"
#include "report/text_layout.h"
#include "report/units.h"

namespace flopmark {
namespace {

constexpr size_t kMostRows = 16;
constexpr size_t kMostColumns = 24;  // of a host's name

std::string short_name(const std::string& name) {
  const std::string safe = printable(name);
  if (display_width(safe) <= kMostColumns) return safe;
  const std::vector<std::string> lines = wrap(safe, kMostColumns - 3);
  return (lines.empty() ? "" : lines.front()) + "...";
}

/// Those that compute longest, by rank.
std::vector<RankSummary> shown_ranks(const RunRecord& record) {
  std::vector<RankSummary> ranks = record.ranks;
  if (ranks.size() <= kMostRows) return ranks;
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const RankSummary& a, const RankSummary& b) { return a.compute_s > b.compute_s; });
  ranks.resize(kMostRows);
  std::sort(ranks.begin(), ranks.end(),
            [](const RankSummary& a, const RankSummary& b) { return a.rank < b.rank; });
  return ranks;
}

/// Which ranks run on what, where that differs.
std::string devices_line(const RunRecord& record) {
  std::map<std::string, std::string> ranks_of;
  for (const RankSummary& rank : record.ranks) {
    std::string& ranks = ranks_of[printable(rank.device_name)];
    ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", rank.rank);
  }
  if (ranks_of.size() < 2) return "";
  std::string text;
  for (const auto& [name, ranks] : ranks_of) {
    text += fmt::format("{}{} ({} {})", text.empty() ? "" : "; ", name,
                        ranks.find(',') == std::string::npos ? "rank" : "ranks", ranks);
  }
  return hanging("devices  ", text);
}

Grid rank_grid(const RunRecord& record) {
  Grid grid{
      .align = "rlrrrrrr",
      .rows = {{"rank", "host", "step", "compute", "in collectives", "exposed", "samples/s", "memory"}}};
  for (const RankSummary& rank : shown_ranks(record)) {
    const auto memory =
        rank.memory_peak_bytes ? std::optional(static_cast<double>(*rank.memory_peak_bytes)) : std::nullopt;
    grid.rows.push_back({fmt::format("{}", rank.rank), short_name(rank.host), format_seconds(rank.step_s),
                         format_seconds(rank.compute_s), format_seconds(rank.communication_s),
                         format_seconds(rank.communication_exposed_s), format_rate(rank.samples_per_s),
                         format_bytes(memory)});
  }
  return grid;
}

std::string slowest_line(const RunRecord& record) {
  const auto slowest = slowest_rank(record.ranks);
  if (!slowest) return "";
  const std::string excess = format_share(std::max(0.0, slowest->excess_ratio));
  return hanging(
      "slowest  ",
      fmt::format("{} computes for {} of a step outside the exchange, {} longer than the median of "
                  "the others",
                  rank_name(slowest->rank->rank, slowest->rank->host),
                  format_seconds(slowest->rank->compute_s), excess));
}

std::string exchange_line(const RunRecord& record) {
  if (!record.communication) return "";
  const CommunicationSummary& communication = *record.communication;
  std::string text = fmt::format(
      "{} by {} of {} a step: {} inside collectives, {} of it after the last gradient (means of the ranks)",
      printable(communication.collective), printable(communication.backend),
      format_bytes(static_cast<double>(communication.bytes_per_step)), format_seconds(communication.total_s),
      format_seconds(communication.exposed_s));
  if (communication.bus_bandwidth_bytes_per_s) {
    text += fmt::format("; bus bandwidth {}/s", format_bytes(communication.bus_bandwidth_bytes_per_s));
  }
  return hanging("exchange ", text);
}

/// Where what a step loses is more than what it spends in collectives: not all of the loss is spent there.
std::string exposed_line(const RunRecord& record) {
  const auto share = record.metrics.values.find("communication_ratio");
  if (!record.communication || share == record.metrics.values.end()) return "";
  const auto exposed = record.communication->exposed_ratio;
  if (!exposed || !share->second || *exposed <= *share->second) return "";
  if (format_share(exposed) == format_share(share->second)) return "";
  return hanging(
      "exposed  ",
      fmt::format("{} of a step, though only {} are inside collectives: a step without the exchange "
                  "also copies no gradients into buckets, shares its cores with no exchange and "
                  "waits for no other rank's slow step",
                  format_share(exposed), format_share(share->second)));
}

}  // namespace

std::string rank_name(int64_t rank, const std::optional<std::string>& host) {
  return rank_on_host(rank, host ? std::optional(printable(*host)) : std::nullopt);
}

std::string rank_table(const RunRecord& record) {
  if (record.ranks.empty()) return "";
  const size_t shown = std::min(kMostRows, record.ranks.size());
  const std::string heading = shown == record.ranks.size()
                                  ? "ranks, means per step\n"
                                  : fmt::format("the {} of {} ranks that compute longest, means per step\n",
                                                shown, record.ranks.size());
  return heading + format_grid(rank_grid(record), TableStyle::text) + devices_line(record) +
         slowest_line(record) + exchange_line(record) + exposed_line(record);
}

}  // namespace flopmark
