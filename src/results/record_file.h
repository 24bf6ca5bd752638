#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "flopmark/record.h"
#include "hardware/peak.h"
#include "measure/samples.h"

namespace flopmark {

/// Everything a record is made of, once the launches are over.
struct RecordInputs {
  RunConfig config;
  std::vector<LaunchSamples> launches;  ///< finished ones, and a partial one last if incomplete
  std::optional<Failure> failure;       ///< then status is failed
  bool interrupted = false;             ///< then status is incomplete
  Subject subject;
  Environment host;
  std::vector<std::string> command_line;
  PeakSources peaks;                 ///< where the peak may come from, if not from the config
  std::filesystem::path store_root;  ///< a data file below it is named relative to it; empty: as given
};

/// Assembles the record: metrics, phases, peak, warnings (see run_warnings.h) and status: failed (no metrics;
/// also when nothing was measured), incomplete (metrics of what was measured), invalid (MFU or HFU over 1),
/// else ok.
RunRecord assemble_record(const RecordInputs& inputs);

/// `flopmark.record/1`. What is unknown or not finite is null; raw steps are left out where there are none.
nlohmann::json to_json(const RunRecord& record);
/// Strict about schema, name, status and types; tolerant of null and of keys it does not know. A null where a
/// number must be makes the array or optional part around it absent. @throws Error 202 naming `source` and
/// the place.
RunRecord record_from_json(const nlohmann::json& json, const std::string& source);

/// Sorted keys, one scalar per line, arrays of numbers on one line, ends in a line feed. When `rounded`,
/// doubles have 6 significant digits, except under "config", whose values are exact. The same record gives
/// the same bytes.
std::string format_record(const nlohmann::json& record, bool rounded);

/// Writes to a temporary file in the same folder, flushes, renames; on failure the old file is intact and the
/// temporary is gone. Temporaries of writers that were killed are removed. Creates missing folders.
/// @throws Error 202 with the system's reason.
void write_file_atomically(const std::filesystem::path& path, const std::string& text);

/// Whether `path` could be written now: makes a small temporary file where it will lie, or in the nearest
/// folder above that exists, and removes it. @throws Error 202 with the system's reason.
void check_writable(const std::filesystem::path& path);

/// A record from its JSON text; `source` names it in messages. @throws Error 202: empty, half-written, nested
/// too deep or not a record.
RunRecord parse_record(const std::string& text, const std::string& source);

/// @throws Error 202 naming the file and why: missing, a folder, empty, half-written or not a record.
RunRecord read_record(const std::filesystem::path& path);

/// The time now as records have it: UTC to the millisecond, ISO 8601.
std::string utc_now();
/// Seconds since 1970 of such a time; of a date alone its beginning. Absent if it is none.
std::optional<double> utc_seconds(const std::string& time);

/// Whether `name` is [A-Za-z0-9][A-Za-z0-9._-]{0,63}, so that it is a file name and stays one.
bool is_record_name(const std::string& name);

}  // namespace flopmark
