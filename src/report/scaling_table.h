#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flopmark/record.h"

namespace flopmark {

/// What a number of ranks makes of a config. Unknown is absent.
struct ScalingRow {
  int64_t ranks = 1;
  std::optional<double> samples_per_s, samples_per_s_per_rank;
  std::optional<double> step_s;         ///< median
  std::optional<double> exposed_ratio;  ///< what a step loses by the exchange
  /// Throughput over that of the first row times the ratio of the ranks: 1 is as fast as it can get.
  std::optional<double> efficiency_ratio;
};

/// A row per record, in their order; the first is what the others are compared with.
std::vector<ScalingRow> scaling_rows(const std::vector<RunRecord>& records);

/// The table of `flopmark run --scaling` for records of one config, at most kTextWidth columns; `records` is
/// not empty.
std::string scaling_table(const std::vector<RunRecord>& records);

}  // namespace flopmark
