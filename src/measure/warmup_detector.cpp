#include "measure/warmup_detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "flopmark/counted.h"
#include "stats/quantile.h"

namespace flopmark {
namespace {

constexpr size_t kWindow = 40;
constexpr size_t kMinPart = 8;
constexpr size_t kFewestSteps = 4;
constexpr double kTolerance = 0.02;
constexpr size_t kMaxLag = 4;
constexpr size_t kMaxSplits = 200;  // a long series is split at so many places, evenly: its cost stays linear
// In units of the standard error for independent steps. Simulated on 20 000 windows of 40: some split exceeds
// it in under 0.1 % for Gaussian noise and in 2 to 3 % for an AR(1) of 0.6 or for two modes.
constexpr double kNoiseFactor = 5.0;
constexpr double kMedianError = 1.2533;  // sqrt(pi / 2): error of a Gaussian median over that of a mean
constexpr double kNormalQuantile80 = 0.8416;
constexpr double kShortestStep = 1e-9;  // seconds: no clock shows less; keeps ratios finite

/// Standard deviation of one value from differences at one lag: half the range of their middle 60 %, which
/// neither a trend (it moves all differences alike) nor outliers in up to one step of five change.
double noise_at_lag(const std::vector<double>& values, size_t lag) {
  std::vector<double> differences;
  differences.reserve(values.size() - lag);
  for (size_t i = lag; i < values.size(); ++i) {
    differences.push_back(values[i] - values[i - lag]);
  }
  const double range = quantile(differences, 0.8) - quantile(differences, 0.2);
  return range / (2 * kNormalQuantile80) / std::sqrt(2.0);
}

/// The largest over lags 1 to 4: neighbours alone would understate noise that is correlated, and would see
/// nothing of a time that alternates slowly.
double noise_of(const std::vector<double>& values) {
  double noise = 0;
  // A shift of level touches `lag` differences: they must stay well under one in five.
  const size_t max_lag = std::clamp<size_t>(values.size() / 8, 1, kMaxLag);
  for (size_t lag = 1; lag <= max_lag; ++lag) {
    noise = std::max(noise, noise_at_lag(values, lag));
  }
  return noise;
}

/// One split, with how well two levels fit: the sum of absolute deviations from the two medians.
struct Split {
  LevelShift shift;
  double misfit = 0;
  double excess() const { return std::abs(shift.shift_ratio) / shift.tolerance_ratio; }
};

double misfit_of(const std::vector<double>& part, double level) {
  return std::accumulate(part.begin(), part.end(), 0.0,
                         [level](double sum, double value) { return sum + std::abs(value - level); });
}

Split compare_parts(const std::vector<double>& before, const std::vector<double>& after, double noise) {
  const double earlier = std::max(median(before), kShortestStep);
  const double later = std::max(median(after), kShortestStep);
  const double counts = 1.0 / static_cast<double>(before.size()) + 1.0 / static_cast<double>(after.size());
  const double error = kMedianError * noise * std::sqrt(counts);
  const double twofold = std::min(earlier, later);  // such a change is never noise
  const double explained = std::min(kNoiseFactor * error, twofold);
  return {{later / earlier - 1, std::max(kTolerance, explained / earlier), before.size()},
          misfit_of(before, earlier) + misfit_of(after, later)};
}

Split split_at(const std::vector<double>& values, size_t split, double noise) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(split);
  return compare_parts({values.begin(), middle}, {middle, values.end()}, noise);
}

/// Of two splits beyond the tolerance the one that fits better says where the level changed; else the larger
/// shift.
bool tells_more(const Split& a, const Split& b) {
  if (a.shift.beyond() && b.shift.beyond()) {
    return a.misfit < b.misfit;
  }
  return a.excess() > b.excess();
}

}  // namespace

bool LevelShift::beyond() const {
  return std::abs(shift_ratio) > tolerance_ratio;
}

LevelShift largest_level_shift(const std::vector<double>& values, size_t min_part) {
  const size_t part = std::max<size_t>(min_part, 1);
  if (values.size() < 2 * part) {
    return {};
  }
  const double noise = noise_of(values);
  const size_t stride = std::max<size_t>(1, (values.size() - 2 * part) / kMaxSplits);
  Split best = split_at(values, part, noise);
  for (size_t split = part + stride; split + part <= values.size(); split += stride) {
    const Split candidate = split_at(values, split, noise);
    if (tells_more(candidate, best)) {
      best = candidate;
    }
  }
  return best.shift;
}

LevelShift quarter_shift(const std::vector<double>& values, size_t min_part) {
  const size_t part = values.size() / 4;
  if (part < std::max<size_t>(min_part, 1)) {
    return {};
  }
  const auto length = static_cast<std::ptrdiff_t>(part);
  return compare_parts({values.begin(), values.begin() + length}, {values.end() - length, values.end()},
                       noise_of(values))
      .shift;
}

WarmupDetector::WarmupDetector(int64_t min_steps, int64_t max_steps)
    : min_steps_(static_cast<size_t>(std::max<int64_t>(min_steps, 0))),
      window_(std::min(kWindow, static_cast<size_t>(std::max<int64_t>({min_steps, max_steps, 0})))) {}

void WarmupDetector::add(double step_s) {
  step_s_.push_back(step_s);
}

bool WarmupDetector::judgeable() const {
  return step_s_.size() >= std::max(kFewestSteps, std::min(window_, 2 * kMinPart));
}

LevelShift WarmupDetector::shift() const {
  const size_t count = std::min(window_, step_s_.size());
  const std::vector<double> last(std::prev(step_s_.end(), static_cast<std::ptrdiff_t>(count)), step_s_.end());
  return largest_level_shift(last, std::min(kMinPart, count / 2));
}

bool WarmupDetector::steady() const {
  return step_s_.size() >= std::max(min_steps_, window_) && steady_so_far();
}

bool WarmupDetector::steady_so_far() const {
  return judgeable() && !shift().beyond();
}

std::string WarmupDetector::reason() const {
  const size_t count = std::min(window_, step_s_.size());
  if (!judgeable()) {
    const auto steps = std::ssize(step_s_);
    return fmt::format("not steady: {} {} too few to judge, {} are wanted", counted(steps, "step"),
                       noun_for(steps, "is", "are"), kWindow);
  }
  const LevelShift found = shift();
  const double percent = 100 * std::abs(found.shift_ratio);
  std::string text =
      found.beyond()
          ? fmt::format("not steady after {} steps: the last {} are {:.1f} % {} than the {} before",
                        step_s_.size(), count - found.split, percent,
                        found.shift_ratio > 0 ? "slower" : "faster", found.split)
          : fmt::format("steady: last {} steps within {:.1f} %", count, percent);
  if (found.tolerance_ratio > kTolerance) {
    text += fmt::format(" (noise explains up to {:.1f} %)", 100 * found.tolerance_ratio);
  }
  if (count < 2 * kMinPart) {
    text += fmt::format("; {} steps are few to judge by, {} are wanted", count, kWindow);
  }
  return text;
}

}  // namespace flopmark
