#pragma once

#include <string>
#include <vector>

#include "compare/stored_comparison.h"

namespace flopmark {

/// The verdict on two records in one sentence, with the figures it rests on.
std::string stored_reason(const StoredComparison& comparison);

/// What a reader must know beside the verdict: other work, too few launches, differences that were allowed.
std::vector<std::string> stored_notes(const StoredComparison& comparison, const RunRecord& a,
                                      const RunRecord& b);

}  // namespace flopmark
