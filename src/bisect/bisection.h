#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bisect/bisect_result.h"
#include "bisect/bisect_world.h"
#include "bisect/journal.h"
#include "bisect/search.h"

namespace flopmark {

struct BisectPlan {
  std::vector<Summary> gates{Summary::throughput, Summary::floor};  ///< one of them is chosen
  double least_ratio = 0.01;                                        ///< no smaller regression is looked for
  std::vector<size_t> looks = JudgeRule{}.looks;
  double level = 0.001;  ///< one-sided, per look
  double pause_s = 60;   ///< before an undecided commit is measured once more
  std::optional<double> budget_s;
  uint64_t seed = 1;
};

/// Finds the first commit that is slower. Everything is compared with good, against half of the regression,
/// by the one summary that shows it best; a commit that does not build, fails or stays undecided is skipped.
/// What the journal has is neither built nor measured again. Throws what `world` and `journal` throw.
BisectionResult run_bisection(const CommitRange& range, const BisectPlan& plan, BisectWorld& world,
                              Journal& journal);

}  // namespace flopmark
