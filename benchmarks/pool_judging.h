#pragma once

#include <cstdint>
#include <vector>

#include "compare/decision.h"
#include "fakes/rivals.h"
#include "pool_file.h"

namespace flopmark::benchmarks {

/// Verdicts on parts of a pool.
struct VerdictCounts {
  size_t trials = 0;
  size_t slower = 0, same = 0, faster = 0, unsure = 0;
  size_t floor_not_slower = 0;  ///< of trials, those whose floor alone is shown to be not slower

  void add(const Decision& decision);
  /// The largest rate of "slower" that these trials do not contradict at 95 %; 1 without trials.
  double slower_bound() const;
};

/// The rule with a last look at `most` pairs.
JudgeRule rule_up_to(const JudgeRule& rule, size_t most);

/// Pairs in the order they were measured, cut into windows of `size`; what is left over is not used. Each
/// window is one complete verdict by `rule`.
VerdictCounts judge_windows(const std::vector<PairRatios>& pairs, const JudgeRule& rule, size_t size);

/// `trials` verdicts on pairs drawn with replacement, as many as the last look needs: none without pairs.
VerdictCounts judge_resamples(const std::vector<PairRatios>& pairs, const JudgeRule& rule, size_t trials,
                              uint64_t seed);
/// The same with one random sign for each drawn pair: no change, by construction.
VerdictCounts judge_signed_resamples(const std::vector<PairRatios>& pairs, const JudgeRule& rule,
                                     size_t trials, uint64_t seed);

/// New build and old one exchanged.
std::vector<PairRatios> exchanged(std::vector<PairRatios> pairs);

std::vector<PairRatios> ratios_of(const std::vector<PoolRow>& rows);

/// A rival's rule on the step times of a pool.
struct RivalCounts {
  size_t trials = 0, flagged = 0;
};
/// Ten launches of side a and then ten of side b, of twenty pairs in turn: as such rules are used.
RivalCounts rival_one_after_other(const testing::Rival& rival, const std::vector<PoolRow>& rows,
                                  uint64_t seed);
/// Both sides of the same ten pairs, measured in turns: what such rules never have.
RivalCounts rival_side_by_side(const testing::Rival& rival, const std::vector<PoolRow>& rows, uint64_t seed);

}  // namespace flopmark::benchmarks
