#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "flopmark/record.h"
#include "measure/samples.h"

namespace flopmark {

inline constexpr const char* kWorkerProtocol = "flopmark.worker/1";

/// One line from the worker: where it is.
struct ProgressUpdate {
  std::string phase;  ///< load, warmup, timed, count, save
  int64_t step = 0, steps = 0;
  double samples_per_s = 0;  ///< 0 = not known yet
};

/// Receives progress in the front-end's main thread.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  virtual void launch_started(int64_t launch, int64_t launches) = 0;
  virtual void progress(const ProgressUpdate& update) = 0;
  virtual void launch_ended() = 0;
};

struct LaunchRequest {
  std::filesystem::path worker;
  nlohmann::json config;            ///< resolved
  std::filesystem::path scratch;    ///< an existing folder of this run's own, for config and sample files
  std::chrono::duration<double> timeout{3600};
  std::chrono::duration<double> stop_grace{5};  ///< from asking the worker to stop to killing it
};

struct LaunchOutcome {
  enum class Status { ok, failed, interrupted };
  Status status = Status::failed;
  std::optional<LaunchSamples> samples;  ///< also of a launch that was interrupted or failed, if it left any
  std::optional<Failure> failure;        ///< status failed: kind, phase, step and text
  int signal = 0;                        ///< status interrupted: which signal asked for it
};

/// Starts one worker in its own process group, reads its progress until it ends, and leaves no process behind,
/// whatever happens to either side. SIGINT, SIGTERM and SIGHUP are handled while it runs: the worker is asked to
/// stop, then killed. @throws Error 200 if the worker program cannot be started.
LaunchOutcome run_launch(const LaunchRequest& request, ProgressSink& sink);

/// What `worker --version` says: its protocol and LibTorch version. @throws Error 200 if it cannot be asked.
struct WorkerVersion {
  std::string protocol, libtorch, cuda;
};
WorkerVersion ask_worker_version(const std::filesystem::path& worker);

/// The worker to use: `given` if not empty, else FLOPMARK_WORKER, else flopmark-worker beside this program.
/// @throws Error 200 naming the places looked at.
std::filesystem::path find_worker(const std::filesystem::path& given);

/// A sink for the terminal: one line redrawn in place (plain lines, at most one per phase and launch, when `stream` is not a
/// terminal), or nothing when quiet.
std::unique_ptr<ProgressSink> make_progress_line(bool quiet);

}  // namespace flopmark
