#pragma once

#include <string>
#include <vector>

#include "compare/paired_comparison.h"

namespace flopmark {

/// What a reader must know beside the verdict: other work, launches one after the other, pairs measured again
/// or disturbed, launches that did not become steady, sides that are alike.
std::vector<std::string> paired_notes(const PairedComparison& comparison);

/// The verdict in one sentence: why it ended, the judge's reason, and the smallest change it could have seen.
std::string paired_verdict_text(const PairedComparison& comparison);

}  // namespace flopmark
