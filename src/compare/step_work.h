#pragma once

#include <optional>
#include <string>

#include "compare/decision.h"
#include "measure/samples.h"

namespace flopmark {

/// What a step of each of two launches processed, where that differs: tokens if both read tokens, else
/// samples.
struct StepWork {
  const char* unit = "samples";
  double a = 0, b = 0;  ///< per step, above 0

  /// The ratios of the steps as ratios of the time per token or sample.
  PairRatios per_unit(const PairRatios& of_steps) const;
};

/// Absent where both processed the same, or one of them nothing.
std::optional<StepWork> differing_work(const LaunchSamples& a, const LaunchSamples& b);

/// What a reader must know of the changes shown.
std::string step_work_note(const StepWork& work);

}  // namespace flopmark
