#pragma once

#include <cstddef>
#include <vector>

#include "flopmark/flop_totals.h"

namespace flopmark {

/// Rows added up over everything deeper than `depth` parts of the path (layers.3.attention is 3 deep), in the
/// order of their first call. @throws std::overflow_error if a sum exceeds int64.
std::vector<ModuleFlops> modules_at_depth(const std::vector<ModuleFlops>& modules, size_t depth);

}  // namespace flopmark
