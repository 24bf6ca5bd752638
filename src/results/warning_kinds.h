#pragma once

#include <span>
#include <string>

namespace flopmark {

/// A kind of warning that a run can raise. `spoils_baseline`: the times are not those of this work on this
/// device, or nobody could tell what was measured, so the run is no reference for others. What is usual
/// noise of a machine (other load on its CPUs, an unlocked clock, drift) spoils nothing: comparisons allow
/// for it.
struct WarningKind {
  const char* code;
  bool spoils_baseline;
};

/// Every code that run_warnings.h names, each once, sorted.
std::span<const WarningKind> warning_kinds();

/// Whether a run with this warning must not become a baseline unless forced. A code that is not known here
/// (of another version) does not spoil it.
bool spoils_baseline(const std::string& code);

}  // namespace flopmark
