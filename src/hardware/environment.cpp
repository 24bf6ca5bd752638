#include "hardware/environment.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "hardware/cgroup_limits.h"
#include "hardware/environment_fields.h"
#include "hardware/host_facts.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxSlug = 64;

std::optional<std::string> os_and_kernel(const KernelFiles& files) {
  auto name = os_name_of(files.text("etc/os-release"));
  utsname system{};
  if (uname(&system) != 0) return name;
  const std::string kernel = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  return name ? fmt::format("{}, {}", *name, kernel) : kernel;
}

std::optional<std::string> governor(const KernelFiles& files) {
  std::vector<std::string> governors;
  std::error_code error;
  const fs::path policies = files.at("sys/devices/system/cpu/cpufreq");
  for (fs::directory_iterator at(policies, error), end; !error && at != end; at.increment(error)) {
    const fs::path inside = (at->path() / "scaling_governor").lexically_relative(files.root);
    governors.push_back(files.text(inside.string()));
  }
  return joined_governors(governors);
}

/// intel_pstate has a switch of its own, which says the opposite; all other drivers share "boost".
std::optional<bool> turbo(const KernelFiles& files) {
  if (const auto off = files.count("sys/devices/system/cpu/intel_pstate/no_turbo")) return *off == 0;
  if (const auto on = files.count("sys/devices/system/cpu/cpufreq/boost")) return *on != 0;
  return std::nullopt;
}

std::optional<bool> smt(const KernelFiles& files) {
  const auto active = files.count("sys/devices/system/cpu/smt/active");
  return active ? std::optional(*active != 0) : std::nullopt;
}

std::optional<double> max_clock_hz(const KernelFiles& files, const std::vector<int>& cpus) {
  std::optional<double> most;
  for (const int cpu : cpus) {
    const auto khz = files.count(fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/cpuinfo_max_freq", cpu));
    if (khz) most = std::max(most.value_or(0), static_cast<double>(*khz) * 1e3);
  }
  return most;
}

std::optional<std::string> container(const KernelFiles& files) {
  std::error_code error;
  if (std::getenv("KUBERNETES_SERVICE_HOST")) return "kubernetes";
  if (fs::exists(files.at(".dockerenv"), error)) return "docker";
  if (fs::exists(files.at("run/.containerenv"), error)) return "podman";
  return container_of_groups(files.text("proc/self/cgroup"));
}

template <typename T>
void prefer(std::optional<T>& value, const std::optional<T>& better) {
  if (better) value = better;
}

void prefer(int64_t& value, int64_t better) {
  value = better;
}

void prefer(std::map<std::string, std::string>& values, const std::map<std::string, std::string>& better) {
  for (const auto& [name, value] : better) values[name] = value;
}

/// FNV-1a, 32 bits: only to tell two long names apart.
uint32_t hash_of(const std::string& text) {
  uint32_t hash = 2166136261U;
  for (const unsigned char character : text) hash = (hash ^ character) * 16777619U;
  return hash;
}

std::string slug_of(const std::string& name) {
  std::string slug;
  for (const char character : name) {
    const char lower =
        character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
    const bool kept = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9') || lower == '.';
    if (kept) slug += lower;
    if (!kept && !slug.empty() && slug.back() != '-') slug += '-';
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug.empty() ? "unknown" : slug;
}

}  // namespace

Environment host_environment(const KernelFiles& files) {
  const std::vector<int> cpus = usable_cpus();
  const CgroupLimits limits = cgroup_limits(files);
  Environment environment;
  environment.cpu_model = cpu_model_of(files.text("proc/cpuinfo"));
  if (!cpus.empty()) environment.cpu_logical = std::ssize(cpus);
  environment.cpu_affinity = cpu_list_text(cpus);
  environment.cpu_max_clock_hz = max_clock_hz(files, cpus);
  environment.governor = governor(files);
  environment.turbo = turbo(files);
  environment.smt = smt(files);
  environment.numa_nodes = list_size_of(files.text("sys/devices/system/node/online"));
  environment.memory_bytes = memory_of(files.text("proc/meminfo"));
  environment.cgroup_cpus = limits.cpus;
  environment.cgroup_memory_bytes = limits.memory_bytes;
  environment.container = container(files);
  environment.os = os_and_kernel(files);
  environment.variables = speed_variables(environ);
  return environment;
}

Environment merge_environment(const Environment& host, const Environment& worker) {
  Environment merged = host;
  for_each_environment_field([&](const char*, auto field) { prefer(merged.*field, worker.*field); });
  return merged;
}

Environment of_ranks(Environment environment, int64_t ranks) {
  if (ranks > 1) environment.device_count = ranks;
  return environment;
}

std::string hardware_slug(const Environment& environment) {
  const std::string name = environment.device_name.value_or(environment.cpu_model.value_or("unknown"));
  std::string slug = fmt::format("{}x-{}", environment.device_count, slug_of(name));
  if (slug.size() <= kMaxSlug) return slug;
  const std::string tail = fmt::format("-{:08x}", hash_of(name));
  return slug.substr(0, kMaxSlug - tail.size()) + tail;
}

}  // namespace flopmark
