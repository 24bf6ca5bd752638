#pragma once

#include <optional>
#include <string>

#include "cli/measured_run.h"
#include "compare/trial_noise.h"
#include "hardware/fitness.h"

namespace flopmark {

/// Where the trial runs, and for how long.
struct TrialOptions {
  std::string device = "auto";
  int64_t threads = 0;
  double seconds = 30;
  MeasuredRunOptions run;
};

struct TrialResult {
  TrialNoise noise;
  std::optional<std::string> fault;  ///< why there are too few launches
  bool interrupted = false;
};

/// Launches of a tiny model, one after the other, until the time is up: at least kLeastTrialLaunches. Leaves
/// nothing behind. @throws Error 200 for a device that is not here.
TrialResult run_trial(const TrialOptions& options);

/// What the trial says of the machine. A spread beyond 25 % makes single runs say nothing.
FitnessCheck noise_check(const TrialResult& result);

}  // namespace flopmark
