#pragma once

#include <string>

#include "flopmark/record.h"
#include "results/baseline_store.h"

namespace flopmark {

/// Saves the record as its baseline, or as the anchor, and warns of other baselines that cannot be read. A
/// record that is slower than the present baseline is refused unless forced; an anchor may move to a slower
/// one.
/// @returns what to tell: where it is, and in a Git tree how to commit it.
/// @throws Error 1 if slower; 200 and 202 as save_baseline, and for a record that measured nothing.
std::string save_as_baseline(const Store& store, const RunRecord& record, const SaveOptions& options);

}  // namespace flopmark
