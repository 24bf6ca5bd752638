#include "hardware/cgroup_limits.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string>
#include <string_view>

namespace flopmark {
namespace {

// Version 1 shows "no limit" as the largest multiple of a page below 2^63.
constexpr int64_t kNoMemoryLimit = int64_t{1} << 62;

template <typename T>
void tighten(std::optional<T>& limit, const std::optional<T>& other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

std::optional<double> cpus_of(std::optional<int64_t> quota_us, std::optional<int64_t> period_us) {
  if (!quota_us || !period_us || *quota_us <= 0 || *period_us <= 0) return std::nullopt;
  return static_cast<double>(*quota_us) / static_cast<double>(*period_us);
}

std::optional<int64_t> number_of(const std::string& word) {
  int64_t value = 0;
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
  return parsed.ec == std::errc() ? std::optional(value) : std::nullopt;
}

/// "200000 100000", or "max 100000".
std::optional<double> cpus_of_cpu_max(const std::string& text) {
  std::istringstream words(text);
  std::string quota, period;
  words >> quota >> period;
  return cpus_of(number_of(quota), number_of(period));
}

std::optional<int64_t> memory_limit(const std::optional<int64_t>& bytes) {
  return bytes && *bytes < kNoMemoryLimit ? bytes : std::nullopt;
}

/// The value of a line "key 123"; 0 without one.
int64_t value_of(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(key + " ", 0) == 0) return number_of(line.substr(key.size() + 1)).value_or(0);
  }
  return 0;
}

/// What `limit` leaves, given the memory in use, and of it what holds files that nobody reads now.
std::optional<int64_t> memory_free(const std::optional<int64_t>& limit, const std::optional<int64_t>& used,
                                   int64_t idle_cache) {
  if (!limit || !used) return std::nullopt;
  return std::clamp<int64_t>(*limit - *used + std::max<int64_t>(idle_cache, 0), 0, *limit);
}

/// Limits in one folder of a hierarchy, whichever version it is of.
CgroupLimits limits_in(const KernelFiles& files, const std::string& folder) {
  CgroupLimits limits;
  limits.cpus = cpus_of_cpu_max(files.text(folder + "/cpu.max"));
  tighten(limits.cpus,
          cpus_of(files.count(folder + "/cpu.cfs_quota_us"), files.count(folder + "/cpu.cfs_period_us")));
  const auto limit = memory_limit(files.count(folder + "/memory.max"));
  const auto first_limit = memory_limit(files.count(folder + "/memory.limit_in_bytes"));
  limits.memory_bytes = limit;
  tighten(limits.memory_bytes, first_limit);
  if (!limits.memory_bytes) return limits;
  const std::string uses = files.text(folder + "/memory.stat");
  limits.memory_free_bytes =
      memory_free(limit, files.count(folder + "/memory.current"), value_of(uses, "inactive_file"));
  tighten(limits.memory_free_bytes, memory_free(first_limit, files.count(folder + "/memory.usage_in_bytes"),
                                                value_of(uses, "total_inactive_file")));
  return limits;
}

/// The group's folder and those around it up to `mount`. A container may see its own group as the mount
/// itself, under a path that exists only outside.
void tighten_by_groups(const KernelFiles& files, const std::string& mount, std::string group,
                       CgroupLimits& limits) {
  while (true) {
    const CgroupLimits here = limits_in(files, mount + group);
    tighten(limits.cpus, here.cpus);
    tighten(limits.memory_bytes, here.memory_bytes);
    tighten(limits.memory_free_bytes, here.memory_free_bytes);
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return;
    group.erase(slash);
  }
}

}  // namespace

CgroupLimits cgroup_limits(const KernelFiles& files) {
  CgroupLimits limits;
  std::istringstream lines(files.text("proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {  // number:controllers:path
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    const std::string mount = "sys/fs/cgroup" + (controllers.empty() ? "" : "/" + controllers);
    tighten_by_groups(files, mount, group, limits);
    if (controllers.empty()) tighten_by_groups(files, "sys/fs/cgroup/unified", group, limits);
  }
  return limits;
}

}  // namespace flopmark
