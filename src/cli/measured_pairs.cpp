#include "cli/measured_pairs.h"

#include <algorithm>
#include <chrono>

#include "cli/machine_turn.h"
#include "cli/worker_pairs.h"

namespace flopmark {

double monotonic_s() {
  const std::chrono::duration<double> all = std::chrono::steady_clock::now().time_since_epoch();
  return all.count() - MachineTurn::waited_s();
}

void measure_pairs(std::vector<PairedComparison>& comparisons, const PairMeasuring& measuring) {
  PairedPlan plan;
  for (const PairedComparison& comparison : comparisons) {
    const bool has_ranks =
        std::max(comparison.a.inputs.config.parallel.ranks, comparison.b.inputs.config.parallel.ranks) > 1;
    plan.workloads.push_back({comparison.result.name, comparison.rule, has_ranks});
  }
  plan.budget_s = measuring.budget_s;
  plan.seed = comparisons.front().seed;
  plan.now_s = monotonic_s;
  plan.comparable = [&](size_t workload, const LaunchSamples& a, const LaunchSamples& b) {
    const PairedComparison& sides = comparisons.at(workload);
    return are_comparable(paired_differences(sides.a, {a}, sides.b, {b}, measuring.differences));
  };
  plan.interrupted = measuring.interrupted;
  plan.pair_begins = measuring.pair_begins;
  WorkerPairs source(comparisons);
  std::vector<PairedResult> results = run_pairs(source, plan);
  for (size_t i = 0; i < results.size(); ++i) comparisons[i].result = std::move(results[i]);
}

}  // namespace flopmark
