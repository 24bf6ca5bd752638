#pragma once

#include <cmath>
#include <vector>

#include "compare/decision.h"
#include "stats/random.h"

namespace flopmark {

/// `count` pairs about the same change of every summary, in percent: +-`spread` in turn.
inline std::vector<PairRatios> pairs_about(double percent, double spread_percent, size_t count) {
  std::vector<PairRatios> pairs;
  for (size_t i = 0; i < count; ++i) {
    const double value = std::log1p(percent / 100) + (i % 2 == 0 ? 1 : -1) * spread_percent / 100;
    pairs.push_back({value, value, value});
  }
  return pairs;
}

/// `count` pairs of normal noise about a change of every summary, in percent.
inline std::vector<PairRatios> wide_pairs(double percent, double sd_percent, size_t count) {
  Random random(4);
  std::vector<PairRatios> pairs;
  for (size_t i = 0; i < count; ++i) {
    const double value = std::log1p(percent / 100) + sd_percent / 100 * random.normal();
    pairs.push_back({value, value, value});
  }
  return pairs;
}

/// Throughput and floor gate, with this tolerance.
inline JudgeRule rule_with_tolerance(double tol_ratio = 0.01) {
  JudgeRule rule;
  rule.gates = {{Summary::throughput, tol_ratio, true}, {Summary::floor, tol_ratio, true}};
  return rule;
}

}  // namespace flopmark
