#pragma once

#include <filesystem>
#include <vector>

#include "hardware/measured_peak.h"
#include "hardware/peak.h"

namespace flopmark {

/// Where measured peaks are kept, per user: peaks-measured.json in FLOPMARK_DATA, else in
/// $XDG_DATA_HOME/flopmark, else in ~/.local/share/flopmark. Empty if none of these is set.
std::filesystem::path measured_peaks_path();

/// What is on file; nothing if there is no such file (or `path` is empty). @throws Error 200 naming the file
/// and what is wrong in it.
std::vector<MeasuredPeak> read_measured_peaks(const std::filesystem::path& path);

/// Puts `fresh` in place of the entries with the same device, threads and precision, and keeps the others;
/// written whole or not at all. @throws Error 200 if what is there cannot be read, 202 if it cannot be
/// written.
void keep_measured_peaks(const std::filesystem::path& path, const std::vector<MeasuredPeak>& fresh);

/// Rows of a user's peaks file. @throws Error 200 naming file, line or row, and key.
PeakTable read_peaks_file(const std::filesystem::path& path);

/// Everything a peak may come from on this machine: the built-in table with the rows of `peaks_file` (empty:
/// none) over it, measured peaks, and the CPU's facts. @throws Error 200 as above.
PeakSources load_peak_sources(const std::filesystem::path& peaks_file);

}  // namespace flopmark
