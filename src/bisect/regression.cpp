#include "bisect/regression.h"

#include <algorithm>
#include <cmath>

#include "stats/signed_rank.h"

namespace flopmark {
namespace {

std::optional<double> ratio_of(const std::optional<double>& log_ratio) {
  return log_ratio ? std::optional(std::expm1(*log_ratio)) : std::nullopt;
}

}  // namespace

ChangeRange change_range(const std::vector<PairRatios>& pairs, Summary summary, double level) {
  std::vector<double> values;
  for (const PairRatios& pair : pairs) values.push_back(pair.of(summary));
  const WalshAverages averages(values);
  return {std::expm1(averages.estimate()), ratio_of(averages.lower_limit(level)),
          ratio_of(averages.upper_limit(level))};
}

double Regression::mid_ratio() const {
  return std::expm1(std::log1p(change.change_ratio) / 2);
}

bool Regression::is_clear() const {
  return change.low_ratio.value_or(0) > mid_ratio();
}

std::optional<Regression> regression_of(const std::vector<PairRatios>& pairs,
                                        const PairedJudgement& judgement, double least_ratio, double level) {
  const SummaryJudgement* best = nullptr;
  for (const SummaryJudgement& summary : judgement.summaries) {
    if (!summary.gates || !summary.low_ratio || *summary.low_ratio <= least_ratio) continue;
    // a / sigma_a > b / sigma_b, where a sigma may be 0.
    const bool shows_better =
        best && summary.change_ratio * best->sigma_ratio > best->change_ratio * summary.sigma_ratio;
    if (!best || shows_better) best = &summary;
  }
  if (!best) return std::nullopt;
  return Regression{best->summary, change_range(pairs, best->summary, level)};
}

bool is_intermediate(const ChangeRange& change, const Regression& regression, double least_ratio) {
  if (!change.low_ratio || !change.high_ratio || !regression.change.low_ratio) return false;
  return *change.low_ratio > 0 && change.change_ratio >= least_ratio &&
         *change.high_ratio < *regression.change.low_ratio &&
         regression.change.change_ratio - change.change_ratio >= least_ratio;
}

Summary sharpest_gate(const PairedJudgement& judgement) {
  const auto& summaries = judgement.summaries;
  return std::min_element(summaries.begin(), summaries.end(),
                          [](const SummaryJudgement& a, const SummaryJudgement& b) {
                            if (a.gates != b.gates) return a.gates;
                            return a.smallest_effect_ratio < b.smallest_effect_ratio;
                          })
      ->summary;
}

double smallest_traceable(const PairedJudgement& judgement, double least_ratio) {
  const double visible = std::log1p(judgement.smallest_effect_ratio);
  return std::expm1(visible + std::max(std::log1p(least_ratio), visible));
}

}  // namespace flopmark
