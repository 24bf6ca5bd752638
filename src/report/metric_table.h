#pragma once

#include <optional>
#include <string>

#include "flopmark/record.h"
#include "metrics/metrics.h"

namespace flopmark {

/// The table of a record's numbers: step time, every metric that has a value (MFU and HFU always), phases,
/// loss, warm-up. Each row says what the number rests on. At most kTextWidth columns; empty if nothing was
/// measured.
std::string metric_table(const RunRecord& record);

/// A metric's value as people read it; "n/a" where it is unknown.
std::string format_metric(Unit unit, std::optional<double> value);

}  // namespace flopmark
