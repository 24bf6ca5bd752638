#include <fmt/format.h>

#include <fstream>

#include "launch/launch.h"
#include "launch/launch_outcome.h"
#include "launch/worker_watch.h"

namespace flopmark {
namespace {

void write_config(const nlohmann::json& config, const std::filesystem::path& file) {
  std::ofstream out(file);
  out << config.dump(2) << '\n';
  out.close();
  if (!out) {
    throw usage_error(fmt::format(
        "cannot write {} for the worker; is the disk full, or the folder read-only?", file.string()));
  }
}

}  // namespace

LaunchOutcome run_launch(const LaunchRequest& request, ProgressSink& sink) {
  const std::filesystem::path config = request.scratch / "config.json";
  const std::filesystem::path samples = request.scratch / "samples.json";
  write_config(request.config, config);
  std::filesystem::remove(samples);  // never a former launch's

  SignalWatch signals;
  std::vector<std::string> command = {request.worker.string(),
                                      "--config",
                                      config.string(),
                                      "--samples",
                                      samples.string(),
                                      "--progress-fd",
                                      std::to_string(WorkerProcess::kProgressFd)};
  if (request.count_only) command.emplace_back("--count");
  if (request.measure_peak) command.emplace_back("--measure-peak");
  WorkerProcess process(command);
  WorkerWatch watch(
      process, signals,
      {.timeout = request.timeout, .greeting = request.greeting, .stop_grace = request.stop_grace}, sink);
  return judge_end(watch.run(), request, samples);
}

}  // namespace flopmark
