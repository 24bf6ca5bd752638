#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "flopmark/record.h"
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
};

/// Assembles the record: metrics, phases, peak, warnings (not_steady, drift, phases_do_not_add_up, wall_disagrees,
/// flops_differ, uncounted_operators, dirty_tree, few_steps) and status (MFU or HFU over 1: invalid).
RunRecord assemble_record(const RecordInputs& inputs);

nlohmann::json to_json(const RunRecord& record);
/// Strict about schema and types, tolerant of null and of keys it does not know. @throws Error 202 naming `source`.
RunRecord record_from_json(const nlohmann::json& json, const std::string& source);

/// Sorted keys, one scalar per line, arrays of numbers on one line, 6 significant digits for doubles when `rounded`.
std::string format_record(const nlohmann::json& record, bool rounded);

/// Writes to a temporary file in the same folder, flushes, renames; on failure the old file is intact and the
/// temporary is gone. Creates missing folders. @throws Error 202 with the system's reason.
void write_file_atomically(const std::filesystem::path& path, const std::string& text);

/// @throws Error 202: missing, empty, half-written or not a record.
RunRecord read_record(const std::filesystem::path& path);

}  // namespace flopmark
