#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "flopmark/record.h"

namespace flopmark {

/// From when a baseline is stale; twice as much is too old to judge by. 0: never.
struct AgeLimits {
  int64_t commits = 500;
  int64_t days = 90;
};

/// How far what is judged has moved on from a baseline. Absent: not known.
struct BaselineAge {
  std::optional<int64_t> commits;  ///< that led to it since; absent in a shallow clone
  std::optional<int64_t> days;
};

enum class Freshness { fresh, stale, too_old };

/// Age of `baseline` at `time` (ISO 8601, as in records), for the tree at `commit` (a hash, or HEAD) in the
/// repository of `folder`.
BaselineAge baseline_age(const RunRecord& baseline, const std::filesystem::path& folder,
                         const std::string& commit, const std::string& time);

/// Of the older of the two; what is not known is fresh.
Freshness freshness(const BaselineAge& age, const AgeLimits& limits);

/// "120 days and 41 commits old; stale from 90 days or 500 commits".
std::string age_text(const BaselineAge& age, const AgeLimits& limits);

}  // namespace flopmark
