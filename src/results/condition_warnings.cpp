#include <fmt/format.h>

#include <functional>

#include "hardware/nvml.h"
#include "measure/condition_log.h"
#include "results/run_warnings.h"

namespace flopmark {
namespace {

// Shares below these are what a quiet machine shows too.
constexpr double kThrottledShare = 0.01;
constexpr double kClockDrop = 0.05;
constexpr double kClockMove = 0.01;
constexpr double kSettingShare = 0.5;  // of the samples, so that a setting counts as what holds the clock
constexpr double kSharedDevice = 0.01;
constexpr double kSharedCpu = 0.05;
constexpr double kRunQueueWait = 0.02;
constexpr double kSwitchesPerSecond = 100;  // per CPU; a competing thread is let in at 100 to 1000 a second

/// What all launches of a run together show.
struct RunConditions {
  Conditions merged;
  double wall_s = 0, steps = 0, cpus = 1;
  bool has_peers = false;  ///< other ranks, which may run on the same CPUs
};

double share_of(const Conditions& conditions, const std::string& reason) {
  if (!conditions.throttle_ratio) return 0;
  const auto found = conditions.throttle_ratio->find(reason);
  return found == conditions.throttle_ratio->end() ? 0 : found->second;
}

std::optional<Warning> throttled(const RunConditions& run) {
  std::string reasons;
  for (const ThrottleReason& reason : throttle_reasons()) {
    const double share = share_of(run.merged, reason.name);
    if (!reason.slows || share < kThrottledShare) continue;
    reasons += fmt::format("{}{} in {:.0f} %", reasons.empty() ? "" : ", ", reason.name, 100 * share);
  }
  if (reasons.empty()) return std::nullopt;
  return Warning{
      "throttled",
      fmt::format("the device held its clock down while steps were timed ({} of {} samples): cool it, "
                  "or set a clock it can keep (nvidia-smi --lock-gpu-clocks)",
                  reasons, run.merged.samples)};
}

std::optional<Warning> clock_drop(const RunConditions& run) {
  const auto& clock = run.merged.device_clock_hz;
  if (!clock || !(clock->max > 0) || clock->min >= (1 - kClockDrop) * clock->max) return std::nullopt;
  return Warning{"clock_drop",
                 fmt::format("the device's clock fell from {:.0f} to {:.0f} MHz ({:.0f} %) while steps were "
                             "timed: the times are of more than one speed",
                             clock->max * 1e-6, clock->min * 1e-6, 100 * (clock->min / clock->max - 1))};
}

std::optional<Warning> clock_not_locked(const RunConditions& run) {
  const auto& clock = run.merged.device_clock_hz;
  const bool moved = clock && clock->max > 0 && clock->min < (1 - kClockMove) * clock->max;
  if (!moved || share_of(run.merged, "applications_clocks_setting") >= kSettingShare) return std::nullopt;
  return Warning{
      "clock_not_locked",
      fmt::format("the device's clock moved between {:.0f} and {:.0f} MHz and no setting holds it: "
                  "lock it to compare runs (nvidia-smi --lock-gpu-clocks)",
                  clock->min * 1e-6, clock->max * 1e-6)};
}

std::optional<Warning> device_shared(const RunConditions& run) {
  const int64_t others = run.merged.other_processes.value_or(0);
  const auto& busy = run.merged.others_device_ratio;
  if (others == 0 || (busy && *busy < kSharedDevice)) return std::nullopt;
  const std::string use = busy ? fmt::format("their kernels ran {:.0f} % of the time", 100 * *busy)
                               : "how much they ran is not known";
  return Warning{"device_shared",
                 fmt::format("{} other process{} on the device, {}: measure on a device of its own", others,
                             others == 1 ? "" : "es", use)};
}

std::optional<Warning> cpu_shared(const RunConditions& run) {
  std::vector<std::string> signs;
  const auto add = [&](const std::optional<double>& value, double limit, const char* what) {
    if (value && *value > limit) signs.push_back(fmt::format("{:.0f} % {}", 100 * *value, what));
  };
  add(run.merged.steal_ratio, kSharedCpu, "of the CPU time stolen by the hypervisor");
  add(run.merged.others_cpu_ratio, kSharedCpu, "used by other processes");
  add(run.merged.run_queue_wait_ratio, kRunQueueWait, "of the time the timed thread waited for a CPU");
  const double switches = run.merged.involuntary_switches_per_step.value_or(0) * run.steps;
  if (run.wall_s > 0 && switches > kSwitchesPerSecond * run.wall_s * run.cpus) {
    signs.push_back(fmt::format("{:.0f} involuntary context switches a second", switches / run.wall_s));
  }
  if (signs.empty()) return std::nullopt;
  const char* who = run.has_peers ? "other load, or the job's own ranks," : "other load";
  const char* advice =
      run.has_peers ? "stop it, or use fewer ranks or threads" : "stop it, or leave it CPUs of its own";
  return Warning{"cpu_shared", fmt::format("{} on the CPU while steps were timed ({}): {}", who,
                                           fmt::join(signs, ", "), advice)};
}

}  // namespace

std::vector<Warning> condition_warnings(const std::vector<LaunchSamples>& launches) {
  std::vector<Warning> warnings;
  const auto merged = merge_conditions(launches);
  if (!merged) return warnings;
  RunConditions run{.merged = *merged};
  for (const LaunchSamples& launch : launches) {
    if (!launch.conditions) continue;
    run.wall_s += launch.conditions->duration_s.value_or(0);
    run.steps += static_cast<double>(launch.timed.steps);
  }
  run.has_peers = !launches.front().ranks.empty();
  run.cpus = static_cast<double>(launches.front().environment.cpu_logical.value_or(1));
  for (const auto find : {throttled, clock_drop, clock_not_locked, device_shared, cpu_shared}) {
    if (auto found = find(run)) warnings.push_back(std::move(*found));
  }
  return warnings;
}

}  // namespace flopmark
