#pragma once

#include <optional>
#include <string>

#include "flopmark/record.h"

namespace flopmark {

/// How the machine's own speed differs between two records, by their rulers; new / old time - 1, so that a
/// slower machine is above 0.
struct RulerChange {
  double matmul_ratio = 0, copy_ratio = 0;  ///< of the median readings
  double ratio = 0;  ///< of the one that moved more, where that is more than its readings scatter; else 0
};

/// Absent unless both records hold readings of the same work with the same number of threads.
std::optional<RulerChange> ruler_change(const RunRecord& a, const RunRecord& b);

/// What a reader must know of a machine that moved; empty for one that did not. `step_ratio` is what the step
/// time changed by.
std::string ruler_note(const RulerChange& change, double step_ratio);

}  // namespace flopmark
