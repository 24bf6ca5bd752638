#include "cli/worker_pairs.h"

#include <sys/resource.h>

#include <algorithm>

#include "cli/machine_turn.h"
#include "cli/scratch_folder.h"
#include "hardware/cpu_conditions.h"
#include "launch/lock_step.h"
#include "launch/turn_order.h"
#include "stats/random.h"

namespace flopmark {
namespace {

/// A side's steps as text, and what else it leaves; of several ranks a file each.
int64_t side_bytes(const PairedSide& side) {
  constexpr int64_t kNumber = 26, kRest = 65536;
  const RunConfig& config = side.inputs.config;
  const MeasureConfig& measure = config.measure;
  return config.parallel.ranks * (kRest + kNumber * (10 * measure.steps + measure.warmup_max_steps));
}

/// Of two sides that may have different numbers of ranks.
int64_t pair_bytes(const PairedComparison& sides) {
  return 2 * std::max(side_bytes(sides.a), side_bytes(sides.b));
}

/// Counters with the CPU time of ours and of every worker that has ended.
CpuReading read_with_workers(const CpuCounters& counters) {
  CpuReading reading = counters.read();
  rusage children{};
  if (reading.own_s && ::getrusage(RUSAGE_CHILDREN, &children) == 0) {
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    *reading.own_s += seconds(children.ru_utime) + seconds(children.ru_stime);
  }
  return reading;
}

LaunchRequest launch_of(const PairedSide& side, const std::filesystem::path& scratch) {
  LaunchRequest request;
  request.worker = side.worker;
  request.config = to_json(side.inputs.config);
  request.scratch = scratch;
  request.timeout = std::chrono::duration<double>(side.inputs.config.measure.timeout_s);
  request.environment = side.environment;
  return request;
}

/// A seed of turns with which the wanted side starts up first.
uint64_t seed_for(const PairRequest& request) {
  Random random(request.seed);
  uint64_t seed = random.bits();
  while (draw_turn_order(seed, 0).a_starts_up_first != request.a_first) seed = random.bits();
  return seed;
}

void run_side_by_side(const PairRequest& request, const PairedComparison& sides,
                      const std::filesystem::path& scratch, LaunchPair& pair) {
  LockStepOptions options;
  options.steps = sides.b.inputs.config.measure.steps;
  options.seed = seed_for(request);
  const auto silent = make_progress_line(true);
  LockStepOutcome outcome =
      run_lock_step({launch_of(sides.a, scratch), sides.a.environment},
                    {launch_of(sides.b, scratch), sides.b.environment}, options, *silent);
  pair.a = std::move(outcome.a);
  pair.b = std::move(outcome.b);
}

void run_one_after_other(const PairRequest& request, const PairedComparison& sides,
                         const std::filesystem::path& scratch, LaunchPair& pair) {
  const auto silent = make_progress_line(true);
  for (const bool is_a : {request.a_first, !request.a_first}) {
    LaunchOutcome& outcome = is_a ? pair.a : pair.b;
    LaunchOutcome& other = is_a ? pair.b : pair.a;
    outcome = run_launch(launch_of(is_a ? sides.a : sides.b, scratch), *silent);
    if (outcome.status == LaunchOutcome::Status::ok) continue;
    other.status = LaunchOutcome::Status::interrupted;  // it has no part in it
    return;
  }
}

}  // namespace

LaunchPair WorkerPairs::measure(const PairRequest& request) {
  const auto turn = MachineTurn::wait();
  if (!turn) return {interrupted_launch(), interrupted_launch(), {}, utc_now()};
  const PairedComparison& sides = comparisons_.at(request.workload);
  const ScratchFolder scratch(pair_bytes(sides));
  const CpuCounters counters;
  const CpuReading before = read_with_workers(counters);
  LaunchPair pair;
  pair.time = utc_now();
  (request.whole_launches ? run_one_after_other : run_side_by_side)(request, sides, scratch.path(), pair);
  pair.conditions = pair_conditions(before, read_with_workers(counters));
  return pair;
}

}  // namespace flopmark
