#pragma once

#include <array>
#include <optional>

#include "compare/decision.h"
#include "measure/samples.h"

namespace flopmark {

/// Step time of a launch by each summary (throughput, typical, floor), seconds. Absent where it has no timed
/// step, or one that is not above 0.
std::optional<std::array<double, kSummaries.size()>> launch_summaries_s(const LaunchSamples& launch);

/// log(b / a) of each summary of two launches that launch_summaries_s knows. typical is the median over the
/// turns of the log ratio of their mean steps where both took turns, else the ratio of the medians.
PairRatios launch_ratios(const LaunchSamples& a, const LaunchSamples& b);

}  // namespace flopmark
