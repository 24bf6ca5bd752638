#include "cli/measured_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
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
/// Of several ranks each leaves a file, with one number more of a step, and rank 0 has their step times as
/// well.
int64_t samples_bytes(const RunConfig& config) {
  constexpr int64_t kNumber = 26, kRest = 65536;
  const int64_t ranks = config.parallel.ranks, per_step = ranks == 1 ? 8 : 10;
  return ranks * (kRest + kNumber * (per_step * config.measure.steps + config.measure.warmup_max_steps));
}

/// The launch's turn at this machine.
std::optional<MachineTurn> wait_for_turn(const MeasuredRunOptions& options) {
  const bool is_of_several = options.place && options.place->ranks > 1;
  return is_of_several ? MachineTurn::wait_as_rank(*options.place) : MachineTurn::wait();
}

/// This process's place in the job that is its next launch. All ranks make equally many launches.
std::optional<RankPlace> next_place(const MeasuredRunOptions& options) {
  static int64_t launches = 0;
  if (!options.place || options.place->ranks == 1) return std::nullopt;
  RankPlace place = *options.place;
  const char* restarts = std::getenv("TORCHELASTIC_RESTART_COUNT");  // torchrun's store outlives a restart
  place.meeting = fmt::format("launch-{}-{}", restarts == nullptr ? "0" : restarts, ++launches);
  return place;
}

LaunchOutcome launch_once(const RecordInputs& inputs, const MeasuredRunOptions& options, ProgressSink& sink) {
  const auto turn = wait_for_turn(options);
  if (!turn) return interrupted_launch();
  const ScratchFolder scratch(samples_bytes(inputs.config));
  LaunchRequest request;
  request.worker = options.worker;
  request.config = to_json(inputs.config);
  request.scratch = scratch.path();
  request.timeout = std::chrono::duration<double>(inputs.config.measure.timeout_s);
  request.place = next_place(options);
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
