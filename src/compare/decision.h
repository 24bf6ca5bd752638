#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compare/launch_summary.h"
#include "compare/verdict.h"

namespace flopmark {

/// One pair of launches: log(new / old) of each summary. Above 0 is slower.
struct PairRatios {
  double throughput = 0, typical = 0, floor = 0;
  /// Of the median steps, which no stall of one step in ten moves, as it does the means of turns that typical
  /// is made of. Judges nothing: it tells where a slowdown sits. Absent: as typical.
  std::optional<double> median_step = std::nullopt;

  double of(Summary summary) const;
};

/// A summary that decides, and what it takes.
struct Gate {
  Summary summary = Summary::throughput;
  double tol_ratio = 0.03;  ///< slower needs an estimate of at least this; from calibration, >= 0
  bool calibrated = false;

  /// "Not slower" needs the upper limit below this: 3 %, or 1.5 tolerances where that is more.
  double good_bound_ratio() const;
};

/// How pairs are judged. The error of a verdict is split evenly over the looks and by Holm over the gates.
struct JudgeRule {
  std::vector<Gate> gates{{Summary::throughput}, {Summary::floor}};
  std::vector<size_t> looks{12, 16, 24, 40, 64};  ///< numbers of pairs, rising
  double alpha = 0.01;                            ///< one-sided, of the whole verdict
  std::optional<double> mid_ratio;                ///< judge against this change instead of 0 and tolerances
  double mid_level = 0.001;                       ///< one-sided, per look, where mid_ratio is given

  double level_per_look() const;
};

/// What the pairs say of one gate. Estimate and limits are log ratios; `level` is that of each limit.
struct GateTest {
  Gate gate;
  double estimate = 0;              ///< Hodges-Lehmann
  std::optional<double> low, high;  ///< one-sided limits at 1 - level; absent with too few pairs
  double p_slower = 1;              ///< of the exact signed-rank test that the location is above 0 (or mid)
  double level = 0;                 ///< Holm's
  bool slower = false;              ///< low above 0 (or mid), and the estimate at least the tolerance
  bool not_slower = false;          ///< high below the good bound (or mid)
  bool faster = false;              ///< high below 0
};

/// The rule at one look, or after all. `verdict` is unsure where the pairs do not settle it.
struct Decision {
  Verdict verdict = Verdict::unsure;
  size_t pairs = 0;  ///< that were used
  double alpha = 0;  ///< of the whole verdict, as judged: less than the rule's where many share it
  std::vector<GateTest> gates;
};

/// The rule on all of `pairs` (not empty), whatever their number.
///   slower: some gate is. same: every gate is not slower, and not all of them are `floor` (which never
///   clears a build alone, except against mid); faster: same, and the first gate other than floor is faster.
/// @throws Error 125 if a ratio is not finite.
Decision decide_look(const std::vector<PairRatios>& pairs, const JudgeRule& rule);

/// Looks in turn at the first 12, 16, ... of `pairs` until one is decisive; else the last look that the pairs
/// reach. With fewer than the first look: all of them, and unsure.
Decision decide_pairs(const std::vector<PairRatios>& pairs, const JudgeRule& rule);

/// Workloads judged together: Holm over them, so that the chance of any false "slower" stays below
/// `suite_alpha` (and that of one verdict below rule.alpha).
std::vector<Decision> decide_suite(const std::vector<std::vector<PairRatios>>& workloads,
                                   const JudgeRule& rule, double suite_alpha = 0.05);

/// The same with a rule for each workload: as many, alike but for their gates. A workload without pairs is
/// unsure.
std::vector<Decision> decide_suite(const std::vector<std::vector<PairRatios>>& workloads,
                                   const std::vector<JudgeRule>& rules, double suite_alpha = 0.05);

/// The planned looks up to `most` pairs, and one there.
std::vector<size_t> looks_up_to(size_t most);

/// Fewer pairs than this are never decisive, whatever they are: the exact test of n pairs cannot go below
/// 2^-n. `workloads` share the suite's alpha.
size_t least_decisive_pairs(const JudgeRule& rule, size_t workloads = 1, double suite_alpha = 0.05);

}  // namespace flopmark
