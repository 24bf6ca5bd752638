#pragma once

#include <vector>

#include "cli/ab_options.h"
#include "compare/paired_comparison.h"

namespace flopmark {

/// Builds what `options` ask for, measures every config on both sides, and judges. Nothing is written but
/// progress. @throws as check_ab_options and resolve_sides.
std::vector<PairedComparison> compare_sides(const AbOptions& options);

}  // namespace flopmark
