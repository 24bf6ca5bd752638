#include "hardware/environment.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "hardware/host_facts.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxSlug = 64;

/// Everything in `file`; empty if it cannot be read. Files of /proc and /sys have no length to ask for.
std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::optional<int64_t> usable_cpus() {
  // A machine may have more CPUs than the fixed set holds; the kernel then answers EINVAL.
  for (int possible = 1024; possible <= (1 << 20); possible *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(possible));
    if (!set) return std::nullopt;
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(possible));
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    const int64_t count = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known) return count;
  }
  return std::nullopt;
}

std::optional<std::string> os_and_kernel() {
  auto name = os_name_of(text_of("/etc/os-release"));
  utsname system{};
  if (uname(&system) != 0) return name;
  const std::string kernel = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  return name ? fmt::format("{}, {}", *name, kernel) : kernel;
}

std::optional<std::string> governor() {
  std::vector<std::string> governors;
  std::error_code error;
  for (fs::directory_iterator at("/sys/devices/system/cpu/cpufreq", error), end; !error && at != end;
       at.increment(error)) {
    governors.push_back(text_of(at->path() / "scaling_governor"));
  }
  return joined_governors(governors);
}

template <typename T>
void prefer(std::optional<T>& value, const std::optional<T>& better) {
  if (better) value = better;
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

Environment host_environment() {
  Environment environment;
  environment.cpu_model = cpu_model_of(text_of("/proc/cpuinfo"));
  environment.cpu_logical = usable_cpus();
  environment.os = os_and_kernel();
  environment.governor = governor();
  environment.variables = speed_variables(environ);
  return environment;
}

Environment merge_environment(const Environment& host, const Environment& worker) {
  Environment merged = host;
  merged.device_count = worker.device_count;
  for (auto field :
       {&Environment::device_name, &Environment::driver, &Environment::libtorch, &Environment::cuda,
        &Environment::cudnn, &Environment::nccl, &Environment::compiler, &Environment::cpu_model,
        &Environment::os, &Environment::governor, &Environment::interconnect}) {
    prefer(merged.*field, worker.*field);
  }
  prefer(merged.cpu_logical, worker.cpu_logical);
  prefer(merged.threads, worker.threads);
  prefer(merged.sm_count, worker.sm_count);
  prefer(merged.sm_clock_hz, worker.sm_clock_hz);
  for (const auto& [name, value] : worker.variables) merged.variables[name] = value;
  return merged;
}

std::string hardware_slug(const Environment& environment) {
  const std::string name = environment.device_name.value_or(environment.cpu_model.value_or("unknown"));
  std::string slug = fmt::format("{}x-{}", environment.device_count, slug_of(name));
  if (slug.size() <= kMaxSlug) return slug;
  const std::string tail = fmt::format("-{:08x}", hash_of(name));
  return slug.substr(0, kMaxSlug - tail.size()) + tail;
}

}  // namespace flopmark
