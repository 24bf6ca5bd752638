#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/rank_place.h"
#include "data/inspection.h"
#include "flopmark/record.h"
#include "launch/protocol.h"
#include "measure/samples.h"

namespace flopmark {

/// Receives progress in the front-end's main thread. Whoever repeats launches calls launch_started and
/// launch_ended around each; run_launch calls the other two.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  virtual void launch_started(int64_t launch, int64_t launches) = 0;  ///< launch counts from 1
  virtual void progress(const ProgressUpdate& update) = 0;
  /// The user asked to stop. `after_step`: the worker has the grace time to finish its step; else it is
  /// killed, as are the ranks of a job.
  virtual void stopping(bool /*after_step*/) {}
  virtual void launch_ended() = 0;
};

struct LaunchRequest {
  std::filesystem::path worker;
  nlohmann::json config;          ///< resolved
  bool count_only = false;        ///< count the FLOPs of a step, measure nothing
  bool measure_peak = false;      ///< search the best matmul rate; `config` is then its request
  std::filesystem::path scratch;  ///< an existing folder of this run's own, for config and sample files
  std::chrono::duration<double> timeout{3600};
  std::chrono::duration<double> greeting{60};   ///< a worker greets first of all; LibTorch loads before that
  std::chrono::duration<double> stop_grace{5};  ///< from asking the worker to stop to killing it
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< variables of run_launch's worker
  /// Of the one rank that a launcher started this process for; without it the config says how many ranks
  /// there are, and run_launch starts them all.
  std::optional<RankPlace> place = {};
  /// Of several ranks: from the first that ends badly to killing the others.
  std::chrono::duration<double> peer_grace{4};
};

struct LaunchOutcome {
  enum class Status { ok, failed, interrupted };
  Status status = Status::failed;
  std::optional<LaunchSamples> samples;  ///< also of a launch that was interrupted or failed, if it left any
  std::optional<Failure> failure;        ///< status failed: kind, phase, step and text
  int signal = 0;  ///< status interrupted: which signal asked for it; 0 = the other of a pair failed
};

/// Starts one worker in its own process group, reads its progress until it ends, and leaves no process
/// behind, whatever happens to either side. SIGINT, SIGTERM, SIGHUP and SIGQUIT are handled while it runs:
/// the worker is asked to stop, then killed; a second one kills it at once. Not for several threads at a
/// time. A job of several ranks has one worker for each (rank_launch.h).
/// @throws Error 200 if the worker program cannot be started or does not greet as one of this build does;
/// Error with the code the worker asks for if it found a mistake of the user's.
LaunchOutcome run_launch(const LaunchRequest& request, ProgressSink& sink);

/// What `worker --version` says: its protocol and LibTorch version. @throws Error 200 if it cannot be asked.
WorkerVersion ask_worker_version(const std::filesystem::path& worker,
                                 std::chrono::duration<double> timeout = std::chrono::seconds(20));

/// What `worker --environment --device D` says: what only the worker knows of the machine, for the device
/// that a config's "device" names. @throws Error 200 if it cannot be asked or there is no such device.
Environment ask_worker_environment(const std::filesystem::path& worker, const std::string& device,
                                   std::chrono::duration<double> timeout = std::chrono::seconds(60));

/// What a .pt file holds, or why that is no tensors.
struct TensorAnswer {
  std::vector<TensorFacts> tensors;
  std::string refusal;  ///< names the file; empty if there is none
};

/// What `worker --tensors FILE` says of a .pt file, which only the worker opens. @throws Error 200 if it
/// cannot be asked.
TensorAnswer ask_worker_tensors(const std::filesystem::path& worker, const std::string& file,
                                std::chrono::duration<double> timeout = std::chrono::seconds(60));

/// The worker to use: `given` if not empty, else FLOPMARK_WORKER, else flopmark-worker beside this program.
/// @throws Error 200 naming the places looked at.
std::filesystem::path find_worker(const std::filesystem::path& given);

/// A sink on standard error: one line redrawn in place, or plain lines (one per phase and launch) where that
/// is not a terminal, or nothing when quiet.
std::unique_ptr<ProgressSink> make_progress_line(bool quiet);

}  // namespace flopmark
