#pragma once

#include <string>

#include "flopmark/record.h"
#include "results/record_file.h"

namespace flopmark {

/// Sets the record's peak from its environment, FLOPs and device count: by hand if the config has it, else of
/// the device, of several ranks the mean of theirs (so that MFU is against the sum of peaks). Absent with its
/// reason where there is none: so of several ranks on CPUs, which share cores that one process alone was
/// measured with. `precision` is that of the configured matmuls; what was counted goes before it. Adds the
/// warning peak_clock.
void add_peak(RunRecord& record, const RecordInputs& inputs, const std::string& precision);

}  // namespace flopmark
