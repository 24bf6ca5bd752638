#include "launch/launch.h"
#include "launch/launch_outcome.h"
#include "launch/rank_launch.h"
#include "launch/start_worker.h"
#include "launch/worker_watch.h"

namespace flopmark {

LaunchOutcome run_launch(const LaunchRequest& request, ProgressSink& sink) {
  const bool trains = !request.count_only && !request.measure_peak;
  if (trains && (request.place || ranks_of(request.config) > 1)) return run_ranks(request, sink);
  SignalWatch signals;
  WorkerStart start;
  start.variables = request.environment;
  if (request.count_only) start.arguments.emplace_back("--count");
  if (request.measure_peak) start.arguments.emplace_back("--measure-peak");
  const StartedWorker worker = start_worker(request, start);
  WorkerWatch watch(*worker.process, signals, limits_of(request), sink);
  return judge_end(watch.run(), request, worker.samples);
}

}  // namespace flopmark
