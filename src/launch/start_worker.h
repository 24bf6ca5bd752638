#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "launch/launch.h"
#include "launch/worker_process.h"

namespace flopmark {

/// A worker that has been started, and the file where it will leave its samples.
struct StartedWorker {
  std::unique_ptr<WorkerProcess> process;
  std::filesystem::path samples;
};

struct WorkerStart {
  std::string file_suffix;             ///< told apart from other workers' files in the same scratch folder
  std::vector<std::string> arguments;  ///< beyond those of every launch
  AddedVariables variables;
};

/// Writes the worker's config and starts it. A sample file of a former launch is removed.
/// @throws Error 200 if the config cannot be written or the worker not started.
StartedWorker start_worker(const LaunchRequest& request, const WorkerStart& start);

}  // namespace flopmark
