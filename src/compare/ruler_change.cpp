#include "compare/ruler_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compare/paired_reason.h"
#include "stats/quantile.h"
#include "stats/rank_sum.h"

namespace flopmark {
namespace {

constexpr double kRulerSide95 = 0.025;
constexpr double kLeastRatio = 0.01;  // less than that moves no verdict

using Readings = std::vector<double>;

double readings_ratio(const Readings& a, const Readings& b) {
  return median(b) / median(a) - 1;
}

bool are_apart(const Readings& a, const Readings& b) {
  const auto [least_a, most_a] = std::minmax_element(a.begin(), a.end());
  const auto [least_b, most_b] = std::minmax_element(b.begin(), b.end());
  return *most_a < *least_b || *most_b < *least_a;
}

/// Beyond what the readings of each record scatter by.
bool has_moved(const Readings& a, const Readings& b) {
  if (std::abs(readings_ratio(a, b)) < kLeastRatio) return false;
  const auto interval = shift_interval(a, b, kRulerSide95);
  return interval ? interval->first > 0 || interval->second < 0 : are_apart(a, b);
}

bool is_usable(const Readings& readings) {
  return !readings.empty() &&
         std::all_of(readings.begin(), readings.end(), [](double s) { return s > 0 && std::isfinite(s); });
}

bool have_same_work(const RunRecord& a, const RunRecord& b) {
  return a.ruler && b.ruler && a.ruler->matmul_flop == b.ruler->matmul_flop &&
         a.ruler->copy_bytes == b.ruler->copy_bytes && a.environment.threads == b.environment.threads;
}

}  // namespace

std::optional<RulerChange> ruler_change(const RunRecord& a, const RunRecord& b) {
  if (!have_same_work(a, b)) return std::nullopt;
  const Ruler &old = *a.ruler, &now = *b.ruler;
  for (const Readings* readings : {&old.matmul_s, &old.copy_s, &now.matmul_s, &now.copy_s})
    if (!is_usable(*readings)) return std::nullopt;
  RulerChange change{readings_ratio(old.matmul_s, now.matmul_s), readings_ratio(old.copy_s, now.copy_s), 0};
  const double matmul = has_moved(old.matmul_s, now.matmul_s) ? change.matmul_ratio : 0;
  const double copy = has_moved(old.copy_s, now.copy_s) ? change.copy_ratio : 0;
  change.ratio = std::abs(std::log1p(copy)) > std::abs(std::log1p(matmul)) ? copy : matmul;
  return change;
}

std::string ruler_note(const RulerChange& change, double step_ratio) {
  if (change.ratio == 0) return "";
  const bool slower = change.ratio > 0;
  const bool explains = slower == (step_ratio > 0) && std::abs(step_ratio) <= std::abs(change.ratio);
  return fmt::format(
      "the machine itself was {} in B: a fixed matrix product took {}, a memory copy {}{}; the "
      "tolerance is widened by as much",
      slower ? "slower" : "faster", signed_percent(change.matmul_ratio), signed_percent(change.copy_ratio),
      explains ? ", and the step moved by no more than that" : "");
}

}  // namespace flopmark
