#include "cli/measured_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/interrupt.h"
#include "cli/machine_turn.h"
#include "cli/scratch_folder.h"

namespace flopmark {
namespace {

/// Ends the progress line of a launch also when it throws.
class ShownLaunch {
 public:
  ShownLaunch(ProgressSink& sink, int64_t launch, int64_t launches) : sink_(sink) {
    sink_.launch_started(launch, launches);
  }
  ~ShownLaunch() { sink_.launch_ended(); }
  ShownLaunch(const ShownLaunch&) = delete;
  ShownLaunch& operator=(const ShownLaunch&) = delete;

 private:
  ProgressSink& sink_;
};

/// At most what a launch leaves of its steps as text: eight numbers of a timed step, one of a warm-up step.
int64_t samples_bytes(const MeasureConfig& measure) {
  constexpr int64_t kNumber = 26, kRest = 65536;
  return kRest + kNumber * (8 * measure.steps + measure.warmup_max_steps);
}

LaunchOutcome launch_once(const RecordInputs& inputs, const MeasuredRunOptions& options, ProgressSink& sink) {
  const auto turn = MachineTurn::wait();
  if (!turn) return interrupted_launch();
  const ScratchFolder scratch(samples_bytes(inputs.config.measure));
  LaunchRequest request;
  request.worker = options.worker;
  request.config = to_json(inputs.config);
  request.scratch = scratch.path();
  request.timeout = std::chrono::duration<double>(inputs.config.measure.timeout_s);
  return run_launch(request, sink);
}

}  // namespace

void run_launches(RecordInputs& inputs, const MeasuredRunOptions& options) {
  const InterruptGuard guard;
  const auto sink = make_progress_line(options.quiet);
  const int64_t launches = inputs.config.measure.repeats;
  for (int64_t launch = 1; launch <= launches && !inputs.failure && !inputs.interrupted; ++launch) {
    const ShownLaunch shown(*sink, launch, launches);
    LaunchOutcome outcome = launch_once(inputs, options, *sink);
    if (outcome.samples) inputs.launches.push_back(std::move(*outcome.samples));
    inputs.failure = outcome.failure;
    inputs.interrupted = outcome.status == LaunchOutcome::Status::interrupted || guard.interrupted();
  }
}

bool has_timed_steps(const RecordInputs& inputs) {
  return std::any_of(inputs.launches.begin(), inputs.launches.end(),
                     [](const LaunchSamples& launch) { return launch.timed.steps > 0; });
}

}  // namespace flopmark
