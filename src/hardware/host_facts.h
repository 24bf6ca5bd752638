#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flopmark {

/// The first "model name" (x86), or "Model"/"Hardware" line of /proc/cpuinfo; absent if the text has none.
std::optional<std::string> cpu_model_of(std::string_view cpuinfo);

/// PRETTY_NAME of /etc/os-release without its quotes, else NAME; absent if the text has neither.
std::optional<std::string> os_name_of(std::string_view os_release);

/// The governors of all CPUs as one word each, several joined by "+" in order ("performance",
/// "powersave+schedutil"); absent for none.
std::optional<std::string> joined_governors(const std::vector<std::string>& governors);

/// A line of /proc/meminfo such as MemAvailable, bytes.
std::optional<int64_t> memory_line_of(std::string_view meminfo, std::string_view key);
/// MemTotal of /proc/meminfo, bytes.
std::optional<int64_t> memory_of(std::string_view meminfo);

/// How many CPUs or NUMA nodes a kernel list such as "0-3,8" names; absent if it is no such list.
std::optional<int64_t> list_size_of(std::string_view list);

/// The container this process runs in, from the groups of /proc/1/cgroup or its own: kubernetes, docker,
/// podman, lxc; absent if they name none.
std::optional<std::string> container_of_groups(std::string_view cgroup);

/// Those of `environment` ("NAME=value" entries) that change how fast training runs. Never a secret: names
/// with a speed-changing prefix only, and none that speak of tokens, keys or passwords.
std::map<std::string, std::string> speed_variables(const char* const* environment);

}  // namespace flopmark
