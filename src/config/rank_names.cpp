#include "config/rank_names.h"

#include <fmt/format.h>

namespace flopmark {

std::string rank_on_host(int64_t rank, const std::optional<std::string>& host) {
  return host && !host->empty() ? fmt::format("rank {} on {}", rank, *host) : fmt::format("rank {}", rank);
}

std::string rank_list(const std::vector<int64_t>& ranks, const std::vector<std::string>& hosts) {
  const auto host_of = [&](size_t place) { return hosts.at(static_cast<size_t>(ranks[place])); };
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) {
    const std::string host = host_of(i);
    const bool same_host_follows = i + 1 < ranks.size() && host_of(i + 1) == host;
    const bool is_named = !host.empty() && !same_host_follows;
    text += fmt::format("{}{}{}", i == 0 ? "" : ", ", ranks[i], is_named ? " (host " + host + ")" : "");
  }
  return text;
}

}  // namespace flopmark
