#pragma once

#include "flopmark/record.h"
#include "results/baseline_store.h"

namespace flopmark {

/// Fewer launches are no baseline: the median of them must stand one that went wrong.
inline constexpr size_t kLeastBaselineLaunches = 3;

// What save_baseline refuses, one by one, so that it can also be refused before a run. `force` with a reason
// overrides all but a status that is not ok.

/// @throws Error 200: force without a reason, or an anchor without one.
void check_save_reason(const SaveOptions& options);
/// @throws Error 202: the tree is not known to be clean, or has no commit.
void check_subject_for_saving(const RunRecord& record, const SaveOptions& options);
/// @throws Error 202: fewer launches than kLeastBaselineLaunches.
void check_launches_for_saving(const std::string& name, size_t launches, const SaveOptions& options);
/// The record's own part: status, subject, launches, and warnings that spoil it. @throws as save_baseline.
void check_record_for_saving(const RunRecord& record, const SaveOptions& options);
/// The file of the record's name and environment. @throws Error 202: what it holds is in no commit.
void check_present_baseline(const Store& store, const RunRecord& record, const SaveOptions& options);

}  // namespace flopmark
