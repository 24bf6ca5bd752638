#pragma once

#include <string>
#include <vector>

#include "compare/launch_summary.h"
#include "flopmark/record.h"

namespace flopmark {

/// The side of a comparison: the reference (A) or what is judged (B).
enum class Side { reference, candidate };

/// Refuses a record that measured nothing, or that contradicts itself, so that no verdict comes from it.
/// `source` names it in the message.
/// @throws Error 202: no launch, a launch without steps or with a step time that is not above 0, block means
///   that do not agree with the record's own mean step time or throughput (edited by hand, units swapped);
///   a reference whose status is not ok. 125: a candidate whose status is not ok, with its failure.
void require_measured(const RunRecord& record, const std::string& source, Side side);

/// log of each launch's summary, from its block means (baselines keep no raw steps; a record is judged by the
/// same numbers, so that it equals its baseline). For records that passed require_measured.
std::vector<double> launch_logs(const RunRecord& record, Summary summary);

}  // namespace flopmark
