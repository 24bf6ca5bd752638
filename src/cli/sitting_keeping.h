#pragma once

#include <filesystem>
#include <string>

#include "compare/stored_comparison.h"
#include "results/baseline_store.h"
#include "results/record_lookup.h"

namespace flopmark {

/// Keeps a run that `baseline` judged as one more sitting of the baseline's own build, and the baseline as
/// the first of them; `folder` lies in the tree that was measured. @returns what was done, in one line: a run
/// of other files or another config than the baseline's, on a machine that differs, or that could not be a
/// baseline itself (changes, warnings), is not kept. @throws Error 202 if the file cannot be read or written.
std::string keep_sitting(const Store& store, const std::filesystem::path& folder, const FoundRecord& baseline,
                         const RunRecord& run, const StoredComparison& comparison);

}  // namespace flopmark
