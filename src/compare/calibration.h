#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compare/decision.h"

namespace flopmark {

inline constexpr size_t kLeastCalibrationPairs = 20;

struct CalibrationOptions {
  double user_tol_ratio = 0.01;  ///< no tolerance is set below this
  double power = 0.9;            ///< how often a detectable effect is found
  size_t trials = 1000;          ///< resamples per effect tried
  uint64_t seed = 1;
};

/// What pairs of one binary with itself (A/A) say of one summary.
struct SummaryCalibration {
  Summary summary = Summary::throughput;
  double bias_ratio = 0;       ///< Hodges-Lehmann; not 0 says that one side of a pair is favoured
  double mad_sigma_ratio = 0;  ///< 1.4826 MAD of one pair
  double sd_ratio = 0;
  double p95_ratio = 0;         ///< 95th percentile of |d|
  std::vector<double> acf;      ///< of successive pairs, lags 1 to 5
  double tol_ratio = 0;         ///< max(user tolerance, 1.4826 MAD x c(n) at the last look)
  double detectable_ratio = 0;  ///< the smallest slowdown found with `power` by the last look, at tol_ratio
};

/// How small a change this machine can judge with a config.
struct Calibration {
  size_t pairs = 0;
  std::vector<SummaryCalibration> summaries;  ///< throughput, typical, floor
};

/// From A/A pairs. Detectable effects come from resampling: pairs drawn with replacement and random signs,
/// shifted by the effect, through decide_pairs; as few pairs show too little of the tail, never less than
/// c(n) sd, enlarged by the 90 % upper limit of a standard deviation from so many pairs.
/// @throws Error 125 with fewer than 20 pairs, or a ratio that is not finite.
Calibration calibrate(const std::vector<PairRatios>& pairs, const JudgeRule& rule,
                      const CalibrationOptions& options = {});

/// `rule` with the calibration's tolerances.
JudgeRule calibrated_rule(const JudgeRule& rule, const Calibration& calibration);

/// The same from the pairs alone, without the resampling that finds out what is detectable; `rule` as it is
/// with fewer than 20.
JudgeRule rule_calibrated_by(const std::vector<PairRatios>& pairs, const JudgeRule& rule,
                             const CalibrationOptions& options = {});

/// Share of trials in which `rule` finds a slowdown of `effect_ratio` added to pairs drawn from `pairs` with
/// random signs.
double resampled_power(const std::vector<PairRatios>& pairs, const JudgeRule& rule, double effect_ratio,
                       const CalibrationOptions& options);

/// @throws Error 203 where no gate of `rule` detects `wanted_ratio`, with about how many pairs that takes.
void require_detectable(const Calibration& calibration, const JudgeRule& rule, double wanted_ratio);

}  // namespace flopmark
