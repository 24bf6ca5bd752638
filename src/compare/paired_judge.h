#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/decision.h"

namespace flopmark {

/// Where a slowdown sits. compute_path: the undisturbed step slowed too; stall: only some steps are long
/// (data, logging, collection); variance: the ordinary step slowed, its best did not; data_path: most of it
/// is waiting for data, whichever steps that made longer (judge_pairs does not know of phases; describe
/// does).
enum class Cause { compute_path, stall, variance, data_path };
const char* to_text(Cause cause);  ///< "compute path", "stall or data path", "variance", "data path"

/// One summary over the pairs, as changes: new / old - 1.
struct SummaryJudgement {
  Summary summary = Summary::throughput;
  bool gates = false;
  double change_ratio = 0;                      ///< Hodges-Lehmann
  std::optional<double> low_ratio, high_ratio;  ///< the limits that decide, each one-sided at 1 - level
  double level = 0;
  std::optional<double> ci95_low_ratio, ci95_high_ratio;  ///< for reading; two-sided 95 %
  double sigma_ratio = 0;            ///< 1.4826 MAD of one pair (standard deviation where that is 0)
  double smallest_effect_ratio = 0;  ///< found with 90 % by so many pairs, for normal pairs
};

/// A verdict on pairs, with what a reader needs to trust it or to go on.
struct PairedJudgement {
  Verdict verdict = Verdict::unsure;
  size_t pairs = 0;                    ///< used
  bool may_go_on = false;              ///< unsure, and a further look is planned
  std::optional<Summary> decided_by;   ///< of slower and faster
  std::optional<Cause> cause;          ///< of slower
  std::optional<double> pairs_needed;  ///< of unsure: about as many settle it, if things stay as they are
  double smallest_effect_ratio = 0;    ///< of the sharpest gate
  std::vector<SummaryJudgement> summaries;  ///< throughput, typical, floor
  std::string reason;                       ///< one sentence
};

/// Judges pairs (not empty) by decide_pairs and describes the result. Pure.
/// @throws Error 125 if a ratio is not finite.
PairedJudgement judge_pairs(const std::vector<PairRatios>& pairs, const JudgeRule& rule);

/// Several workloads by decide_suite, each by its own rule (as many). One without pairs is unsure, and has no
/// summaries.
std::vector<PairedJudgement> judge_suite(const std::vector<std::vector<PairRatios>>& workloads,
                                         const std::vector<JudgeRule>& rules);

}  // namespace flopmark
