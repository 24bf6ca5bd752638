#include "cli/doctor_trial.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>

#include "cli/scratch_folder.h"
#include "config/run_config.h"
#include "flopmark/counted.h"
#include "hardware/environment.h"
#include "report/summary.h"

namespace flopmark {
namespace {

constexpr double kSomeNoise = 0.05;  // launches of a quiet machine differ by 1 % or less
constexpr double kMuchNoise = 0.25;  // as much as two sittings of one build may differ by, uncalibrated
constexpr int64_t kMostLaunches = 100;

constexpr const char* kTrialConfig = R"({
  "name": "doctor-trial", "model": { "preset": "llama-tiny" },
  "data": { "type": "synthetic", "batch_size": 2, "sequence_length": 64 },
  "measure": { "warmup_max_steps": 40, "warmup_max_s": 2, "steps": 50, "repeats": 1, "timeout_s": 60 } })";

RunConfig trial_config(const TrialOptions& options) {
  const ScratchFolder folder(65536);
  const std::filesystem::path file = folder.path() / "doctor-trial.json";
  std::ofstream(file) << kTrialConfig;
  return load_config(file, {"device=" + options.device, fmt::format("measure.threads={}", options.threads)});
}

}  // namespace

TrialResult run_trial(const TrialOptions& options) {
  using Clock = std::chrono::steady_clock;
  RecordInputs inputs;
  inputs.config = trial_config(options);
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(options.seconds));
  for (int64_t launch = 0; launch < kMostLaunches && !inputs.failure && !inputs.interrupted; ++launch) {
    if (launch >= static_cast<int64_t>(kLeastTrialLaunches) && Clock::now() >= end) break;
    run_launches(inputs, options.run);
  }
  TrialResult result;
  result.noise = trial_noise(inputs.launches);
  if (inputs.failure) result.fault = failure_text(*inputs.failure);
  result.interrupted = inputs.interrupted;
  return result;
}

FitnessCheck noise_check(const TrialResult& result) {
  const TrialNoise& noise = result.noise;
  if (result.fault || noise.launches < 2) {
    return {"noise", Fitness::bad, "the trial failed: " + result.fault.value_or("no launch was measured"),
            "flopmark env"};
  }
  const std::string found = fmt::format(
      "{} of one job differ by {:.1f} % (standard deviation; {:.1f} % from fastest to slowest): 64 pairs "
      "side by side show a change of {:.1f} %",
      counted(static_cast<int64_t>(noise.launches), "launch", "launches"), 100 * noise.spread_ratio,
      100 * noise.range_ratio, 100 * noise.visible_ratio);
  if (noise.spread_ratio <= kSomeNoise) return {"noise", Fitness::ok, found, ""};
  return {"noise", noise.spread_ratio > kMuchNoise ? Fitness::bad : Fitness::warn, found,
          "top -b -n 1 -o %CPU | head -n 15"};
}

}  // namespace flopmark
