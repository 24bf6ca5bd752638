#include "hardware/fitness.h"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/host_facts.h"

namespace flopmark {
namespace {

constexpr double kSomeLoad = 0.05, kMuchLoad = 0.25;  // of the usable CPUs' time
constexpr double kGib = 1024.0 * 1024 * 1024;
constexpr double kLittleMemory = 0.10, kTooLittleMemory = 0.03;  // of all there is
constexpr double kMuchSwap_bytes = 64.0 * 1024 * 1024;

using Check = std::optional<FitnessCheck>;

bool is_gpu(const FitnessFacts& facts) {
  return facts.environment.cuda.has_value();
}

Check check_worker(const FitnessFacts& facts) {
  if (!facts.worker_fault) return std::nullopt;
  return FitnessCheck{"worker", Fitness::bad, *facts.worker_fault,
                      "cmake --build build/dev --target flopmark-worker"};
}

Check check_build(const FitnessFacts& facts) {
  const Environment& environment = facts.environment;
  if (!environment.worker_debug) return std::nullopt;
  const std::string sanitizers = environment.sanitizers.value_or("none");
  const std::string libtorch = environment.libtorch_build.value_or("");
  const bool is_debug = *environment.worker_debug || libtorch == "Debug";
  const std::string found =
      fmt::format("worker {}, LibTorch {}, sanitizers: {}",
                  *environment.worker_debug ? "not optimized or with assertions" : "optimized",
                  libtorch.empty() ? "of unknown build" : libtorch, sanitizers);
  if (!is_debug && sanitizers == "none") return FitnessCheck{"build", Fitness::ok, found, ""};
  return FitnessCheck{"build", Fitness::bad, found,
                      "cmake --preset release && cmake --build --preset release"};
}

Check check_governor(const FitnessFacts& facts) {
  const auto& governor = facts.environment.governor;
  if (!governor) {
    return FitnessCheck{"governor", Fitness::ok,
                        "no frequency scaling to be seen: a host above this machine sets it, or nothing does",
                        ""};
  }
  if (*governor == "performance") return FitnessCheck{"governor", Fitness::ok, *governor, ""};
  return FitnessCheck{"governor", Fitness::warn, *governor + ": clocks follow the load, and so do times",
                      "sudo cpupower frequency-set -g performance"};
}

std::string turbo_off_command(const std::string& file) {
  return fmt::format("echo {} | sudo tee /{}", file.ends_with("no_turbo") ? 1 : 0, file);
}

Check check_turbo(const FitnessFacts& facts) {
  const auto& turbo = facts.environment.turbo;
  if (!turbo) return FitnessCheck{"turbo", Fitness::ok, "no switch to be seen", ""};
  if (!*turbo) return FitnessCheck{"turbo", Fitness::ok, "off", ""};
  return FitnessCheck{"turbo", Fitness::warn, "on: the clock depends on heat and on how many cores work",
                      facts.turbo_file ? turbo_off_command(*facts.turbo_file) : ""};
}

Fitness fitness_of_load(double ratio) {
  return ratio > kMuchLoad ? Fitness::bad : ratio > kSomeLoad ? Fitness::warn : Fitness::ok;
}

Check check_load(const FitnessFacts& facts) {
  if (!facts.load || !facts.load->others_ratio) return std::nullopt;
  const double ratio = *facts.load->others_ratio;
  const Fitness fitness = fitness_of_load(ratio);
  return FitnessCheck{"load", fitness, fmt::format("other processes use {:.0f} % of the CPUs", 100 * ratio),
                      fitness == Fitness::ok ? "" : "top -b -n 1 -o %CPU | head -n 15"};
}

Check check_steal(const FitnessFacts& facts) {
  if (!facts.load || !facts.load->steal_ratio) return std::nullopt;
  const double ratio = *facts.load->steal_ratio;
  const Fitness fitness = fitness_of_load(ratio);
  return FitnessCheck{
      "steal", fitness,
      fmt::format("the hypervisor takes {:.0f} % of the CPU time{}", 100 * ratio,
                  fitness == Fitness::ok
                      ? ""
                      : ": ask for CPUs of this machine's own, or measure when its neighbours are quiet"),
      fitness == Fitness::ok ? "" : "vmstat 1 10"};
}

/// Threads that can really run at a time.
std::optional<double> usable_cpus_of(const Environment& environment) {
  std::optional<double> cpus;
  if (environment.cpu_logical) cpus = static_cast<double>(*environment.cpu_logical);
  if (environment.cgroup_cpus)
    cpus = std::min(cpus.value_or(*environment.cgroup_cpus), *environment.cgroup_cpus);
  return cpus;
}

Check check_threads(const FitnessFacts& facts) {
  const auto cpus = usable_cpus_of(facts.environment);
  if (!facts.threads || !cpus) return std::nullopt;
  const bool has_limit =
      facts.environment.cgroup_cpus &&
      *facts.environment.cgroup_cpus < static_cast<double>(facts.environment.cpu_logical.value_or(1));
  const std::string found = fmt::format("{} threads on {:g} CPUs{}", *facts.threads, *cpus,
                                        has_limit ? " (the control group's limit)" : "");
  if (static_cast<double>(*facts.threads) <= *cpus) return FitnessCheck{"threads", Fitness::ok, found, ""};
  const auto fitting = std::max<int64_t>(1, static_cast<int64_t>(*cpus));
  return FitnessCheck{"threads", Fitness::bad, found + ": they wait for each other",
                      fmt::format("flopmark run CONFIG --set measure.threads={}", fitting)};
}

Check check_memory(const FitnessFacts& facts) {
  const auto& total = facts.environment.memory_bytes;
  if (!facts.memory_available_bytes || !total || *total <= 0) return std::nullopt;
  const auto available = static_cast<double>(*facts.memory_available_bytes);
  const double ratio = available / static_cast<double>(*total);
  const Fitness fitness = ratio < kTooLittleMemory ? Fitness::bad
                          : ratio < kLittleMemory  ? Fitness::warn
                                                   : Fitness::ok;
  return FitnessCheck{
      "memory", fitness,
      fmt::format("{:.1f} of {:.1f} GiB available", available / kGib, static_cast<double>(*total) / kGib),
      fitness == Fitness::ok ? "" : "ps -eo pid,rss,args --sort=-rss | head -n 10"};
}

Check check_swap(const FitnessFacts& facts) {
  if (!facts.swap_used_bytes) return std::nullopt;
  const auto used = static_cast<double>(*facts.swap_used_bytes);
  if (used < kMuchSwap_bytes) return FitnessCheck{"swap", Fitness::ok, "hardly used", ""};
  return FitnessCheck{
      "swap", Fitness::warn,
      fmt::format("{:.1f} GiB of memory lie on disk: what is read back stops a step", used / kGib),
      "sudo swapoff -a && sudo swapon -a"};
}

std::string smi_command(const FitnessFacts& facts, const std::string& what) {
  const auto& uuid = facts.environment.device_uuid;
  return "sudo nvidia-smi " + (uuid ? "-i " + *uuid + " " : std::string()) + what;
}

Check check_gpu_clock(const FitnessFacts& facts) {
  if (!is_gpu(facts)) return std::nullopt;
  if (!facts.slowing_reasons.empty()) {
    return FitnessCheck{"gpu_clock", Fitness::bad,
                        fmt::format("held down now: {}", fmt::join(facts.slowing_reasons, ", ")),
                        "nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER"};
  }
  const auto &set = facts.environment.device_application_clock_hz,
             &most = facts.environment.device_max_clock_hz;
  if (!most) return FitnessCheck{"gpu_clock", Fitness::ok, "the driver does not tell", ""};
  if (set && *set < *most)
    return FitnessCheck{"gpu_clock", Fitness::ok, fmt::format("set to {:.0f} MHz", *set * 1e-6), ""};
  const auto mhz = static_cast<int64_t>(0.8 * *most * 1e-6);
  return FitnessCheck{
      "gpu_clock", Fitness::warn,
      fmt::format("free up to {:.0f} MHz, as far as the driver tells: lock it to compare runs", *most * 1e-6),
      smi_command(facts, fmt::format("--lock-gpu-clocks={},{}", mhz, mhz))};
}

Check check_persistence(const FitnessFacts& facts) {
  const auto& on = facts.environment.persistence_mode;
  if (!is_gpu(facts) || !on) return std::nullopt;
  if (*on) return FitnessCheck{"persistence", Fitness::ok, "on", ""};
  return FitnessCheck{"persistence", Fitness::warn,
                      "off: the driver is unloaded between launches, and settings are lost",
                      smi_command(facts, "-pm 1")};
}

Check check_gpu_processes(const FitnessFacts& facts) {
  if (!is_gpu(facts) || !facts.device_processes) return std::nullopt;
  if (*facts.device_processes == 0) return FitnessCheck{"gpu_processes", Fitness::ok, "none", ""};
  return FitnessCheck{"gpu_processes", Fitness::bad, fmt::format("{} on the device", *facts.device_processes),
                      "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv"};
}

}  // namespace

const char* to_text(Fitness fitness) {
  return fitness == Fitness::ok ? "ok" : fitness == Fitness::warn ? "warn" : "bad";
}

FitnessFacts host_fitness_facts(const KernelFiles& files) {
  FitnessFacts facts;
  const std::string meminfo = files.text("proc/meminfo");
  facts.memory_available_bytes = memory_line_of(meminfo, "MemAvailable");
  const auto total = memory_line_of(meminfo, "SwapTotal"), free = memory_line_of(meminfo, "SwapFree");
  if (total && free) facts.swap_used_bytes = std::max<int64_t>(0, *total - *free);
  for (const char* file :
       {"sys/devices/system/cpu/intel_pstate/no_turbo", "sys/devices/system/cpu/cpufreq/boost"}) {
    if (!facts.turbo_file && files.count(file)) facts.turbo_file = file;
  }
  return facts;
}

std::vector<FitnessCheck> check_fitness(const FitnessFacts& facts) {
  std::vector<FitnessCheck> checks;
  for (const auto check :
       {check_worker, check_build, check_governor, check_turbo, check_load, check_steal, check_threads,
        check_memory, check_swap, check_gpu_clock, check_persistence, check_gpu_processes}) {
    if (auto found = check(facts)) checks.push_back(std::move(*found));
  }
  return checks;
}

Fitness worst_fitness(const std::vector<FitnessCheck>& checks) {
  Fitness worst = Fitness::ok;
  for (const FitnessCheck& check : checks) worst = std::max(worst, check.fitness);
  return worst;
}

}  // namespace flopmark
