#pragma once

#include <optional>
#include <string>

#include "flopmark/record.h"

namespace flopmark {

/// The dense peak of exactly this device at this precision (fp32, tf32, bf16, fp16), from the built-in table.
/// Matched on the whole device name, case and all. Unknown device or precision: no value, and `reason` names
/// the device, and says that `peak.flop_per_s` gives it by hand.
Peak lookup_peak(const std::string& device_name, const std::string& precision);

/// The precision whose peak bounds the matmuls of a configured one: that of bf16-mixed is bf16.
std::string peak_precision(const std::string& configured);

/// `by_hand` if given (FLOP/s per device, source by_hand), else the table's; a CPU has none in the table.
Peak resolve_peak(std::optional<double> by_hand, const std::string& device_name,
                  const std::string& precision);

}  // namespace flopmark
