#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hardware/peak.h"

namespace flopmark {

/// What `flopmark peak` is asked: a device, and one precision or (absent) all that are known of it.
struct PeakQuestion {
  PeakDevice device;
  std::optional<std::string> precision = {};
};

/// `device`, `dense`, and per precision `flop_per_s` (null with a `reason`), `source`, unit, accumulate type
/// and cross-check; `flop_per_s` and `reason` also at the top: a number with a precision asked for, else one
/// per precision, and null for a device without any.
nlohmann::json peak_json(const PeakSources& sources, const PeakQuestion& question);

/// The same to read, at most kTextWidth columns.
std::string peak_report(const PeakSources& sources, const PeakQuestion& question);

/// The peak of a job that has one rank on each of the devices: the sum of theirs; absent, with the reason, if
/// one has none.
Peak sum_of_peaks(const PeakSources& sources, const std::vector<PeakDevice>& devices,
                  const std::string& precision);

/// What `flopmark peak --measure` found, and the file it is kept in.
nlohmann::json measured_peaks_json(const std::vector<MeasuredPeak>& peaks, const std::string& file);
std::string measured_peaks_report(const std::vector<MeasuredPeak>& peaks, const std::string& file);

}  // namespace flopmark
