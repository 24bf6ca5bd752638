#pragma once

#include <string>

#include "flopmark/record.h"

namespace flopmark {

/// The table of a record's numbers: step time, every metric that has a value (MFU and HFU always), phases,
/// loss, warm-up. Each row says what the number rests on. At most kTextWidth columns; empty if nothing was
/// measured.
std::string metric_table(const RunRecord& record);

}  // namespace flopmark
