#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "flopmark/error.h"
#include "flopmark/record.h"
#include "measure/samples.h"

namespace flopmark {

/// What passes between front-end and worker besides the config file and the sample file. Called as
///   flopmark-worker --config FILE --samples FILE --progress-fd N
/// the worker writes the lines below to descriptor N, one JSON object per line, hello first, and reads its
/// standard input: the line "stop" asks it to finish the present step and write what it has with status
/// incomplete; the end of the input means that the front-end is gone, and the worker must end at once. Called
/// with `--turns N` it takes turns with another worker instead of timing its steps in one go
/// (control_line.h). Called with `--ranks N` and its own place among them (rank_launch.h) it trains together
/// with other workers. Called as `flopmark-worker --version` it prints one version line to standard output,
/// as `flopmark-worker --environment --device D` one line with the `environment` object of its samples.
inline constexpr const char* kWorkerProtocol = "flopmark.worker/1";
/// Longer lines are cut here by the reader, so a worker keeps its texts well below.
inline constexpr size_t kWorkerLineLimitBytes = 65536;

/// The kind of a failure that is another rank's: this one lost it. `rank`, `host`, `phase` and `step` are
/// then those of the lost one, as far as they are known.
inline constexpr const char* kPeerLost = "peer_lost";

/// Exit codes of the worker: samples written (ok, incomplete or failed), a failure line sent, an error line
/// sent.
inline constexpr int kWorkerWroteSamples = 0;
inline constexpr int kWorkerSentFailure = 125;
inline constexpr int kWorkerSentError = 200;

/// The first line: which protocol the worker speaks.
struct WorkerHello {
  std::string protocol;
};

/// Where the worker is; sent at most about twice a second.
struct ProgressUpdate {
  std::string phase;            ///< load, warmup, timed, cached, count, save
  int64_t step = 0, steps = 0;  ///< from 1; 0 = before the first, or open-ended
  double samples_per_s = 0;     ///< 0 = not known yet
};

/// A worker that takes turns is loaded and warm, and waits.
struct WorkerReady {
  double step_s = 0;  ///< median of its last warm-up steps, above 0
};

/// A user's mistake that only the worker could find; the front-end throws it as an Error, and nothing is
/// written.
struct WorkerError {
  ExitCode code = ExitCode::usage;  ///< 125 or 200 to 205
  std::string text;
};

/// A line that is none of these; `text` is its beginning, made printable.
struct NotUnderstood {
  std::string text;
};

/// TurnSamples: the turn that the front-end gave is over, and the worker waits.
using WorkerLine =
    std::variant<NotUnderstood, WorkerHello, ProgressUpdate, WorkerReady, TurnSamples, Failure, WorkerError>;

/// What `flopmark-worker --version` says; `cuda` is empty without CUDA.
struct WorkerVersion {
  std::string protocol, libtorch, cuda;
};

/// Each returns one line with its newline, shorter than the limit whatever it is given (long texts are cut,
/// bytes that are not UTF-8 replaced).
std::string format_hello();
std::string format_progress(const ProgressUpdate& update);
std::string format_ready(const WorkerReady& ready);
std::string format_turn(const TurnSamples& turn);
std::string format_failure(const Failure& failure);
std::string format_worker_error(const WorkerError& error);
std::string format_version(const WorkerVersion& version);

/// A failure line of kind crash for a signal handler: async-signal-safe, allocates nothing. Writes at most
/// `size` bytes to `line` and returns how many (0 if it does not fit; 256 always do). `phase` has no
/// characters that JSON escapes; `step` 0 means not known. The front-end adds the signal's name itself.
size_t format_crash_line(char* line, size_t size, const char* phase, int64_t step) noexcept;

/// Reads one line, with or without its newline. Total: whatever the bytes are, the answer is a WorkerLine;
/// texts in it are printable UTF-8. An unknown failure kind becomes "error".
WorkerLine parse_worker_line(std::string_view line);

/// Reads a version line; absent if it is not one.
std::optional<WorkerVersion> parse_version(std::string_view line);

}  // namespace flopmark
