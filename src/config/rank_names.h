#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flopmark {

/// How a message begins that is of one rank: "rank 3 on b"; "rank 3" where the host is not known or empty.
std::string rank_on_host(int64_t rank, const std::optional<std::string>& host);

/// Ranks within a sentence: "rank 1 (host a)", "ranks 0, 2 (host a)", "ranks 0 (host a), 1 (host b)".
/// `hosts` is by rank; one that is empty is not known, and left out.
std::string rank_list(const std::vector<int64_t>& ranks, const std::vector<std::string>& hosts);

}  // namespace flopmark
