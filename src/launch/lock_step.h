#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "launch/launch.h"

namespace flopmark {

/// One side of a pair: a worker program, its resolved config, scratch folder (the two may share one), and
/// variables added to its environment. Unless named there, OMP_WAIT_POLICY=passive, GOMP_SPINCOUNT=0 and
/// KMP_BLOCKTIME=0 are added, so that the threads of the one that waits do not spin.
struct LockStepSide {
  LaunchRequest request;  ///< `timeout` is of the time when this side itself works
  std::vector<std::pair<std::string, std::string>> environment;
};

struct LockStepOptions {
  int64_t steps = 50;          ///< timed steps of each side at least; rounded up to whole turns
  double least_turn_s = 0.05;  ///< steps shorter than this are grouped
  uint64_t seed = 1;           ///< of the order inside each alternation and of which side starts up first
};

/// Where one side failed, the other was stopped for it: interrupted with signal 0. A signal stops both.
struct LockStepOutcome {
  LaunchOutcome a, b;
  int64_t steps_per_turn = 0;  ///< the same for both sides; 0 if it did not come to turns
  std::vector<bool> a_first;   ///< per alternation, as planned
};

/// Starts both workers, lets each warm up (one after the other, the other blocked), then alternates turns in
/// random order (turn_order.h); nobody is left behind. The sink hears of each worker's start as in
/// run_launch, then of phase "turns", the present turn as its step, and of counting and saving. An
/// out-of-memory failure while both live is that side's failure: the two may not fit beside each other.
/// @throws as run_launch, for either side; std::invalid_argument for steps below 1 or a turn's time not above
/// 0.
LockStepOutcome run_lock_step(const LockStepSide& a, const LockStepSide& b, const LockStepOptions& options,
                              ProgressSink& sink);

}  // namespace flopmark
