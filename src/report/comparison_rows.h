#pragma once

#include <string>
#include <vector>

#include "compare/stored_comparison.h"

namespace flopmark {

/// One line of a comparison as people read it.
struct ComparisonRow {
  std::string label, a, b, change, note;
};

/// Step time by its three summaries, the metrics both or one have, and the numbers that equal work has equal.
std::vector<ComparisonRow> comparison_rows(const StoredComparison& comparison);

/// "Step time, mean" and so on.
const char* summary_title(Summary summary);

/// Commit and time of a record: "0230d94c2b, 2026-11-30T08:25:11.999Z".
std::string record_origin(const RunRecord& record);

}  // namespace flopmark
