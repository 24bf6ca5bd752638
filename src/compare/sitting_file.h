#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "compare/launch_summary.h"
#include "flopmark/record.h"
#include "results/baseline_store.h"

namespace flopmark {

/// Fewer sittings of one build, or all within less than a day, do not tell what two of them can differ by.
inline constexpr size_t kLeastSittings = 8;
inline constexpr double kLeastSittingsSpan_s = 24 * 3600.0;
/// One that begins sooner after the last one of its build is a part of it.
inline constexpr double kSittingsApart_s = 3600;

/// One stretch of measuring a build that was measured before, as kept on file.
struct Sitting {
  std::string time;    ///< UTC to the millisecond, ISO 8601
  std::string config;  ///< calibration_key
  std::string build;   ///< commit of the baseline that is the same build: what sittings share
  std::array<double, kSummaries.size()> step_s{};  ///< the median launch by each summary, seconds
};

/// Of a record that passed require_measured.
Sitting sitting_of(const RunRecord& record, const std::string& build);

/// baselines/<hardware>/<name>.sittings.jsonl of the record's hardware and name.
std::filesystem::path sittings_path(const Store& store, const RunRecord& record);

/// All sittings on file, by time; none if there is no such file. @throws Error 202 naming file and line.
std::vector<Sitting> read_sittings(const std::filesystem::path& path);

/// Adds sittings to those on file, as add_calibration adds pairs. @throws Error 202.
void add_sittings(const Store& store, const std::filesystem::path& path, const std::vector<Sitting>& fresh);

/// Those of this config that count: by build and time, an hour or more apart, builds with at least two.
std::vector<Sitting> counted_sittings(std::vector<Sitting> sittings, const std::string& config);

/// What two sittings of one build differed by: log ratios of every two, both ways round, for each summary.
/// Empty where `counted` are too few: less than 8 of one build (of more builds, one more for each), or all
/// within 24 hours.
std::vector<std::vector<double>> sitting_ratios(const std::vector<Sitting>& counted);

}  // namespace flopmark
