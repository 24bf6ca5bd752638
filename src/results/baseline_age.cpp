#include "results/baseline_age.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "results/git.h"

namespace flopmark {
namespace {

/// Days since 1970 of "2026-11-30T05:55:12.123Z"; absent if it is no such date.
std::optional<int64_t> day_of(const std::string& time) {
  int year = 0;
  unsigned month = 0, day = 0;
  if (std::sscanf(time.c_str(), "%4d-%2u-%2uT", &year, &month, &day) != 3) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
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
