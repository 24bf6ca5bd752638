#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "compare/stored_comparison.h"
#include "results/record_lookup.h"

namespace flopmark {

/// Two records and what was judged of them; `a` and `b` are named by where they were found.
struct ComparisonReport {
  const FoundRecord& a;
  const FoundRecord& b;
  const StoredComparison& comparison;
};

/// For the terminal, at most kTextWidth columns: both sides, differences that matter, numbers, verdict last.
std::string comparison_text(const ComparisonReport& report);

/// For a pull request: the verdict first, then a table. Text from records is escaped.
std::string comparison_markdown(const ComparisonReport& report);

/// `flopmark.comparison/1`: verdict, change_ratio with ci95_low and ci95_high (of throughput; null where
/// there is none), environment_differences, one entry per metric, and in
/// `confirm` the command that settles an unconfirmed verdict. Ends in a line feed.
std::string comparison_json(const ComparisonReport& report);

}  // namespace flopmark
