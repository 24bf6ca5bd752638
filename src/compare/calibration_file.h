#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compare/decision.h"
#include "config/run_config.h"
#include "flopmark/record.h"
#include "results/baseline_store.h"

namespace flopmark {

/// A pair of one build with itself, as kept on file.
struct CalibrationPair {
  std::string time;                   ///< UTC to the millisecond, ISO 8601
  std::string config;                 ///< calibration_key of what was measured
  std::optional<std::string> commit;  ///< of the tree the config lies in
  PairRatios ratios;
  bool a_first = true;
  double step_s = 0;  ///< mean step of side a
  std::optional<double> others_cpu_ratio, steal_ratio;
};

/// What of a config a calibration holds for: all but its name and the folders of its files, 16 hex digits.
std::string calibration_key(const RunConfig& config);
/// The same of a resolved config in JSON, as a record holds it.
std::string calibration_key(nlohmann::json resolved);

/// baselines/<hardware>/<name>.calibration.jsonl.
std::filesystem::path calibration_path(const Store& store, const std::string& name,
                                       const Environment& environment);

/// Whether there is a calibration of that name for any hardware.
bool has_calibration(const Store& store, const std::string& name);

/// All pairs on file, by time; none if there is no such file. @throws Error 202 naming file and line.
std::vector<CalibrationPair> read_calibration(const std::filesystem::path& path);

/// Adds pairs to those on file: one line each, by time, 6 significant digits, so that the same pairs give the
/// same bytes. Git is told to merge such files by union: what two people add to one file both stays.
/// @throws Error 202 if what is there cannot be read, or the file not written.
void add_calibration(const Store& store, const std::filesystem::path& path,
                     const std::vector<CalibrationPair>& fresh);

/// The ratios of the pairs of this config.
std::vector<PairRatios> calibration_ratios(const std::vector<CalibrationPair>& pairs, const std::string& key);

}  // namespace flopmark
