#pragma once

#include <string>
#include <vector>

#include "report/bisect_report.h"
#include "report/grid.h"

namespace flopmark {

/// What was searched, how and on what, and what was found: config, range, build, device, sought, culprit
/// or candidates, its change.
Facts bisect_facts(const BisectReport& report);
/// The commits that were tested, in the order of the range, bad last.
Grid bisect_commit_grid(const BisectReport& report);
/// Phases and operators that the culprit changed; only a heading if there are none.
Grid bisect_phase_grid(const BisectReport& report);
Grid bisect_operator_grid(const BisectReport& report);
/// Why commits were skipped, what is doubtful about builds, and other steps.
std::vector<std::string> bisect_notes(const BisectReport& report);

/// The culprit's index in the range; absent where there is not one alone.
std::optional<size_t> culprit_of(const BisectionResult& result);

}  // namespace flopmark
