#pragma once

#include <string>

#include "flopmark/record.h"
#include "results/baseline_store.h"

namespace flopmark {

/// A record and where it was found, as to be shown.
struct FoundRecord {
  RunRecord record;
  std::string source;
};

/// What a user may name: a record or baseline file; REF:BASELINE, a baseline as committed in REF, by name or
/// by path from the top of the tree; or the name of a baseline in the store.
/// @throws Error 202: nothing of that name, several hardwares have it (all are named), or not a record.
FoundRecord find_record(const std::string& operand, const Store& store);

/// The record file `file` as committed in `reference`. @throws Error 202: no such commit or file there.
FoundRecord find_committed(const std::string& reference, const std::string& file, const Store& store);

}  // namespace flopmark
