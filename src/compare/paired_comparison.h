#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/environment_difference.h"
#include "compare/paired_changes.h"
#include "compare/paired_session.h"
#include "compare/stored_comparison.h"
#include "results/record_file.h"

namespace flopmark {

/// One side of a paired comparison: what was measured, and how it differs from the other by the user's wish.
struct PairedSide {
  std::string label;                  ///< for people: "v1.0 (0230d94c2b), built"
  std::string worker;                 ///< path of the program
  std::optional<std::string> commit;  ///< of a build, 40 hex digits
  std::vector<std::string> sets;      ///< key=value, of this side only
  std::vector<std::pair<std::string, std::string>> environment;
  RecordInputs inputs;  ///< config, host and peak sources; its launches are not looked at
};

/// A config measured on two sides and judged, with what else changed.
struct PairedComparison {
  PairedSide a, b;
  JudgeRule rule;
  uint64_t seed = 0;
  PairedResult result;
  Verdict verdict = Verdict::unsure;
  std::vector<EnvironmentDifference> environment_differences;
  std::vector<MetricComparison> metrics;        ///< from all launches of each side
  std::vector<MetricComparison> deterministic;  ///< FLOPs, parameters, loss: equal for equal work
  std::vector<PhaseChange> phases;
  std::vector<OperatorChange> operators;  ///< those that changed
  std::optional<LoaderQueue> loader;      ///< where a side is data-bound
  std::vector<std::string> notes;
  std::string reason;  ///< one sentence
};

/// Facts of the two sides that differ. What the user set apart (config, data) and what a build brings along
/// (LibTorch, CUDA) is allowed here: only another device refuses. For sides whose launches are given.
std::vector<EnvironmentDifference> paired_differences(const PairedSide& a,
                                                      const std::vector<LaunchSamples>& launches_a,
                                                      const PairedSide& b,
                                                      const std::vector<LaunchSamples>& launches_b,
                                                      const DifferenceOptions& options);

/// Everything a report says. `comparison` has sides, rule and result; the rest is filled in.
void describe(PairedComparison& comparison, const DifferenceOptions& options);

}  // namespace flopmark
