#pragma once

#include <string>
#include <vector>

#include "compare/decision.h"
#include "stats/random.h"

namespace flopmark::testing {

/// What is done to the new side of a comparison.
struct Injected {
  double work_ratio = 0;   ///< every step longer by this
  double stall_ratio = 0;  ///< the mean longer by this, through every tenth step alone
};

/// Step times of launches in turn on one machine, 50 steps each, made with known truth; the noise is that of
/// training (see names()). The same seed gives the same times everywhere.
///   quiet        launches 0.3 %, steps AR(1) phi 0.3 with 0.5 %, 1 % spikes (exponential, mean 0.3)
///   noisy        launches 2 %, phi 0.6 with 3 %, 3 % spikes (mean 0.5)
///   procbimodal  quiet, 3 of 10 launches 3 % slower
///   drift        quiet, 4 % slower over each 20 launches
///   stall        quiet, every tenth step twice as long, random phase
///   neighbour    quiet; in half of the launches, in runs, +0.35 on 80 % of steps, else on 10 %
///   pareto       quiet, 2 % spikes with a Pareto tail of index 1.5
///   walk         quiet, a random walk of 0.3 % per step within a launch
///   warmup       quiet, each launch starts 20 % slow and gets over it in a random time
///   clock        quiet, the clock steps between two speeds 5 % apart, across launches
///   additive     quiet, plus a wait that does not scale with the work (10 % of the step, exponential)
///   outlier      quiet, one launch in 20 is 40 % slower
///   second       quiet, every other launch 2 % slower: who goes second pays
class StepGenerator {
 public:
  StepGenerator(const std::string& name, uint64_t seed);

  std::vector<double> next_launch(const Injected& injected = {});
  Random& random() { return random_; }

  static const std::vector<std::string>& names();

 private:
  struct Shape {
    double launch_sd, phi, step_sd, spike_share, spike_size;
  };
  double launch_offset();
  double step_extra(size_t step, size_t phase);

  std::string name_;
  Random random_;
  Shape shape_;
  size_t launch_ = 0;
  bool disturbed_ = false;  // neighbour
  bool fast_clock_ = true;
  double walk_ = 0, warmup_steps_ = 0;
};

/// How the two sides are laid out in time.
enum class Design {
  random_order,  ///< adjacent launches, who is first decided by a coin
  fixed_order,   ///< the old side is always first: a mistake, for tests that must notice it
};

PairRatios ratios_of(const std::vector<double>& old_s, const std::vector<double>& new_s);

/// So many pairs, one after the other.
std::vector<PairRatios> measured_pairs(StepGenerator& generator, size_t count, const Injected& injected = {},
                                       Design design = Design::random_order);

/// Measures pairs until the rule is decisive or its looks are used up.
Decision judged_trial(StepGenerator& generator, const JudgeRule& rule, const Injected& injected,
                      Design design = Design::random_order);

}  // namespace flopmark::testing
