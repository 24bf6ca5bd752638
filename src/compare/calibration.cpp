#include "compare/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/detection.h"
#include "stats/normal.h"
#include "stats/quantile.h"
#include "stats/random.h"
#include "stats/signed_rank.h"
#include "stats/spread.h"

namespace flopmark {
namespace {

constexpr size_t kLags = 5;
constexpr double kMostEffect = 0.6931471805599453;  // log 2: twice as slow
constexpr int kHalvings = 11;                       // to a fortieth of a percent

/// A standard deviation from `pairs` pairs times this is above the true one with 90 %, for normal pairs.
double upper_factor(size_t pairs) {
  const auto degrees = static_cast<double>(pairs - 1);
  return std::sqrt(degrees / chi_square_quantile(0.1, degrees));
}

/// One drawn pair keeps its summaries together: one sign for all.
std::vector<PairRatios> draw(const std::vector<PairRatios>& pairs, size_t count, double shift,
                             Random& random) {
  std::vector<PairRatios> drawn;
  drawn.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const PairRatios& pair = pairs[random.index(pairs.size())];
    const double sign = random.sign();
    drawn.push_back({sign * pair.throughput + shift, sign * pair.typical + shift, sign * pair.floor + shift});
  }
  return drawn;
}

/// The rule as it treats one gate among all: the same level, without the others.
JudgeRule alone(const JudgeRule& rule, const Gate& gate) {
  JudgeRule single = rule;
  single.gates = {gate};
  single.alpha = rule.alpha / static_cast<double>(rule.gates.size());
  single.mid_level = rule.mid_level / static_cast<double>(rule.gates.size());
  return single;
}

/// More of an effect never turns a trial's "slower" into something else, and every effect is tried on the
/// same draws, so halving finds the smallest.
double resampled_effect(const std::vector<PairRatios>& pairs, const JudgeRule& rule,
                        const CalibrationOptions& options) {
  double low = 0, high = kMostEffect;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    const bool found = resampled_power(pairs, rule, std::expm1(middle), options) >= options.power;
    (found ? high : low) = middle;
  }
  return high;
}

std::vector<double> values_of(const std::vector<PairRatios>& pairs, Summary summary) {
  std::vector<double> values;
  for (const PairRatios& pair : pairs) values.push_back(pair.of(summary));
  return values;
}

/// The shift, in standard deviations of one pair, that the last look finds.
double factor_at_cap(const JudgeRule& rule, const CalibrationOptions& options) {
  const double level = rule.level_per_look() / static_cast<double>(rule.gates.size());
  return detection_factor(rule.looks.back(), level, options.power);
}

double tolerance_from(const std::vector<double>& values, const JudgeRule& rule,
                      const CalibrationOptions& options) {
  return std::max(options.user_tol_ratio, std::expm1(factor_at_cap(rule, options) * mad_sigma(values)));
}

SummaryCalibration calibrate_summary(const std::vector<PairRatios>& pairs, Summary summary,
                                     const JudgeRule& rule, const CalibrationOptions& options) {
  const std::vector<double> values = values_of(pairs, summary);
  std::vector<double> sizes;
  for (const double value : values) sizes.push_back(std::abs(value));
  const double factor = factor_at_cap(rule, options);

  SummaryCalibration result;
  result.summary = summary;
  result.bias_ratio = std::expm1(WalshAverages(values).estimate());
  result.mad_sigma_ratio = mad_sigma(values);
  result.sd_ratio = standard_deviation(values);
  result.p95_ratio = std::expm1(quantile(sizes, 0.95));
  for (size_t lag = 1; lag <= kLags; ++lag) result.acf.push_back(autocorrelation(values, lag));
  result.tol_ratio = tolerance_from(values, rule, options);
  const JudgeRule single = alone(rule, {summary, result.tol_ratio, true});
  result.detectable_ratio = std::expm1(std::max(resampled_effect(pairs, single, options),
                                                factor * result.sd_ratio * upper_factor(pairs.size())));
  return result;
}

}  // namespace

double resampled_power(const std::vector<PairRatios>& pairs, const JudgeRule& rule, double effect_ratio,
                       const CalibrationOptions& options) {
  Random random(options.seed);
  size_t found = 0;
  for (size_t trial = 0; trial < options.trials; ++trial) {
    const auto drawn = draw(pairs, rule.looks.back(), std::log1p(effect_ratio), random);
    found += decide_pairs(drawn, rule).verdict == Verdict::slower ? 1 : 0;
  }
  return static_cast<double>(found) / static_cast<double>(options.trials);
}

Calibration calibrate(const std::vector<PairRatios>& pairs, const JudgeRule& rule,
                      const CalibrationOptions& options) {
  if (pairs.size() < kLeastCalibrationPairs) {
    throw judge_error(fmt::format("calibration needs at least {} pairs, found {}: measure more",
                                  kLeastCalibrationPairs, pairs.size()));
  }
  decide_look(pairs, rule);  // refuses what is not finite
  Calibration calibration;
  calibration.pairs = pairs.size();
  for (const Summary summary : kSummaries) {
    calibration.summaries.push_back(calibrate_summary(pairs, summary, rule, options));
  }
  return calibration;
}

JudgeRule calibrated_rule(const JudgeRule& rule, const Calibration& calibration) {
  JudgeRule calibrated = rule;
  for (Gate& gate : calibrated.gates) {
    gate.tol_ratio = calibration.summaries.at(static_cast<size_t>(gate.summary)).tol_ratio;
    gate.calibrated = true;
  }
  return calibrated;
}

JudgeRule rule_calibrated_by(const std::vector<PairRatios>& pairs, const JudgeRule& rule,
                             const CalibrationOptions& options) {
  JudgeRule calibrated = rule;
  if (pairs.size() < kLeastCalibrationPairs) return calibrated;
  for (Gate& gate : calibrated.gates) {
    gate.tol_ratio = tolerance_from(values_of(pairs, gate.summary), rule, options);
    gate.calibrated = true;
  }
  return calibrated;
}

void require_detectable(const Calibration& calibration, const JudgeRule& rule, double wanted_ratio) {
  const SummaryCalibration* best = nullptr;
  for (const Gate& gate : rule.gates) {
    const auto& summary = calibration.summaries.at(static_cast<size_t>(gate.summary));
    if (!best || summary.detectable_ratio < best->detectable_ratio) best = &summary;
  }
  if (!best || best->detectable_ratio <= wanted_ratio) return;
  const double times = std::log1p(best->detectable_ratio) / std::log1p(wanted_ratio);
  const double pairs = std::ceil(static_cast<double>(rule.looks.back()) * times * times);
  throw Error(ExitCode::interference,
              fmt::format("a change of {:.2f} % is asked for, but {} pairs on this machine find no less than "
                          "{:.2f} % ({}): about {:.0f} pairs would be needed, or a quieter machine",
                          wanted_ratio * 100, rule.looks.back(), best->detectable_ratio * 100,
                          step_time_name(best->summary), pairs));
}

}  // namespace flopmark
