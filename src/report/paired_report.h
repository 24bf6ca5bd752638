#pragma once

#include <string>
#include <vector>

#include "compare/paired_comparison.h"

namespace flopmark {

/// For the terminal, at most kTextWidth columns (only paths and keys may be longer): both sides, differences,
/// step time by its summaries, metrics, phases and operators that changed, verdict last.
std::string paired_text(const PairedComparison& comparison);

/// For a pull request: the verdict first, then tables. Text that others wrote is escaped.
std::string paired_markdown(const PairedComparison& comparison);

/// `flopmark.paired/1`: verdict, change_ratio with ci95_low and ci95_high (of throughput; null where there is
/// none), environment_differences, one entry per metric, phases, operators, data_bound and every pair. Several
/// comparisons: `flopmark.paired_suite/1`, with them in `comparisons`. Ends in a line feed.
std::string paired_json(const std::vector<PairedComparison>& comparisons);

}  // namespace flopmark
