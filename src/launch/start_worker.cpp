#include "launch/start_worker.h"

#include <fmt/format.h>

#include <fstream>

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

StartedWorker start_worker(const LaunchRequest& request, const WorkerStart& start) {
  const std::filesystem::path config = request.scratch / fmt::format("config{}.json", start.file_suffix);
  StartedWorker started;
  started.samples = request.scratch / fmt::format("samples{}.json", start.file_suffix);
  write_config(request.config, config);
  std::filesystem::remove(started.samples);  // never a former launch's
  std::vector<std::string> command = {request.worker.string(),
                                      "--config",
                                      config.string(),
                                      "--samples",
                                      started.samples.string(),
                                      "--progress-fd",
                                      std::to_string(WorkerProcess::kProgressFd)};
  command.insert(command.end(), start.arguments.begin(), start.arguments.end());
  started.process = std::make_unique<WorkerProcess>(command, start.variables);
  return started;
}

}  // namespace flopmark
