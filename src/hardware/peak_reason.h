#pragma once

#include <string>

#include "hardware/peak.h"

namespace flopmark {

/// Why there is no peak, each with what is known and what to add: the reason of a null MFU.
std::string nameless_reason();
std::string unknown_device_reason(const PeakSources& sources, const PeakDevice& device,
                                  const std::string& precision);
std::string missing_precision_reason(const PeakRow& row, const PeakDevice& device,
                                     const std::string& precision);
/// The device has another number of SMs than its row.
std::string other_sm_count_reason(const PeakRow& row, const PeakDevice& device, const std::string& precision);
/// A CPU without a measured peak: the command that measures it, and the estimate.
std::string unmeasured_cpu_reason(const PeakSources& sources, const PeakDevice& device,
                                  const std::string& precision);

/// A row of a peaks file for the device, its figure left to fill in; one line of JSON.
std::string row_to_add(const std::string& row_name, const PeakDevice& device, const std::string& precision);

}  // namespace flopmark
