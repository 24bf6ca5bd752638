#pragma once

#include <string>
#include <vector>

#include "compare/stored_comparison.h"

namespace flopmark {

/// Why two sides are not compared: the keys that refuse, and the way round it.
std::string refused_text(const std::vector<EnvironmentDifference>& differences);

/// "; but it did other work: Parameters not equal": being faster by doing something else is no gain. Empty
/// for equal work.
std::string other_work(const std::vector<MetricComparison>& deterministic);

/// One sentence for each number of `deterministic` that differs.
std::vector<std::string> other_work_notes(const std::vector<MetricComparison>& deterministic);

}  // namespace flopmark
