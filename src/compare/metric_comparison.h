#pragma once

#include <vector>

#include "compare/stored_comparison.h"
#include "compare/stored_tolerance.h"

namespace flopmark {

/// Every metric either record has: rates by the tolerance of throughput, peak memory tightly, shares by five
/// percent of the step. None of them makes the verdict.
std::vector<MetricComparison> compare_metrics(const RunRecord& a, const RunRecord& b,
                                              const StoredTolerance& throughput);

/// Whether the metric is step time or a rate made from it: it moves with the step time of equal work.
bool follows_step_time(const MetricComparison& metric);

/// What equal work must have equal: FLOPs and parameters exactly, the first loss tightly.
std::vector<MetricComparison> compare_deterministic(const RunRecord& a, const RunRecord& b);

}  // namespace flopmark
