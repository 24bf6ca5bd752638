#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "flopmark/record.h"

namespace flopmark {

/// The ranks of a job of several: a row each (of over 16 those that compute longest), which one the others
/// wait for, and what the exchange took. At most kTextWidth columns; empty for a job of one rank.
std::string rank_table(const RunRecord& record);

/// "rank 3 on host4"; without a host "rank 3".
std::string rank_name(int64_t rank, const std::optional<std::string>& host);

}  // namespace flopmark
