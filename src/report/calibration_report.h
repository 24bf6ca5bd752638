#pragma once

#include <optional>
#include <string>

#include "compare/calibration.h"
#include "compare/variance_split.h"

namespace flopmark {

/// What `flopmark calibrate` found out of one config.
struct CalibrationReport {
  std::string name;
  Calibration calibration;
  JudgeRule rule;                         ///< whose last look the figures are for
  size_t fresh_pairs = 0;                 ///< of them measured now
  std::optional<VarianceSplit> variance;  ///< of the launches measured now
  size_t steps = 0;                       ///< per launch, as configured
  std::string path;                       ///< where the pairs are kept
};

/// For the terminal, at most kTextWidth columns.
std::string calibration_text(const CalibrationReport& report);
/// `flopmark.calibration/1`. Ends in a line feed.
std::string calibration_json(const CalibrationReport& report);

}  // namespace flopmark
