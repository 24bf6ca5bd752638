#include "results/baseline_age.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/git.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

/// Days since 1970 of a record's time; absent if it is none.
std::optional<int64_t> day_of(const std::string& time) {
  const auto seconds = utc_seconds(time);
  if (!seconds) return std::nullopt;
  return static_cast<int64_t>(std::floor(*seconds / 86400));
}

std::string count_text(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// "90 days", "500 commits", both with `word` between, or one where the other is absent.
std::string joined_text(const std::optional<int64_t>& days, const std::optional<int64_t>& commits,
                        const char* word) {
  std::string text = days ? count_text(*days, "day") : "";
  if (commits) text += (text.empty() ? "" : fmt::format(" {} ", word)) + count_text(*commits, "commit");
  return text;
}

std::optional<int64_t> limit_of(int64_t limit) {
  return limit > 0 ? std::optional(limit) : std::nullopt;
}

Freshness freshness_of(const std::optional<int64_t>& age, int64_t limit) {
  if (!age || limit <= 0 || *age < limit) return Freshness::fresh;
  return *age / 2 < limit ? Freshness::stale : Freshness::too_old;
}

}  // namespace

BaselineAge baseline_age(const RunRecord& baseline, const std::filesystem::path& folder,
                         const std::string& commit, const std::string& time) {
  BaselineAge age;
  const auto from = day_of(baseline.time), to = day_of(time);
  if (from && to) age.days = std::max<int64_t>(0, *to - *from);
  if (baseline.subject.commit) age.commits = commits_between(folder, *baseline.subject.commit, commit);
  return age;
}

Freshness freshness(const BaselineAge& age, const AgeLimits& limits) {
  return std::max(freshness_of(age.days, limits.days), freshness_of(age.commits, limits.commits));
}

std::string age_text(const BaselineAge& age, const AgeLimits& limits) {
  return fmt::format("{} old; stale from {}", joined_text(age.days, age.commits, "and"),
                     joined_text(limit_of(limits.days), limit_of(limits.commits), "or"));
}

}  // namespace flopmark
