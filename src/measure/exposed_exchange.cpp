#include "measure/exposed_exchange.h"

#include <vector>

#include "stats/quantile.h"

namespace flopmark {

ExposedTimes time_exposed_exchange(TrainingStep& step, Marker& marker, Clock& clock,
                                   const ExposedOptions& options, LoopState& state) {
  std::vector<double> with_s, without_s;
  for (const bool exchanges : {true, false, false, true, true, false, false, true}) {
    options.set_exchange(exchanges);
    const BlockSamples block = run_block(step, marker, clock,
                                         {.steps = options.steps,
                                          .micro_batches = options.micro_batches,
                                          .steps_before = options.steps_before},
                                         state);
    auto& all = exchanges ? with_s : without_s;
    all.insert(all.end(), block.step_s.begin(), block.step_s.end());
  }
  return {.with_s = median(with_s), .without_s = median(without_s)};
}

}  // namespace flopmark
