#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "flopmark/flop_totals.h"
#include "flopmark/record.h"
#include "measure/matmul_rate.h"

namespace flopmark {

/// Where a step's time goes. `other` is what lies between a step's end and the next one's begin.
/// `communication` is the part of the exchange between ranks that nothing hides; it is taken
/// out of backward, and of the optimizer where that gathers parameters. Empty for one rank.
enum class Phase : size_t { data, transfer, forward, backward, communication, optimizer, other };
inline constexpr size_t kPhaseCount = 7;

/// Raw times of a block of consecutive steps.
struct BlockSamples {
  int64_t steps = 0;           ///< finished; fewer than asked for when stopped
  std::vector<double> step_s;  ///< start of the step to start of the next (the last: to its end)
  std::array<std::vector<double>, kPhaseCount> phase_s;  ///< per phase and step, over all micro-batches; add
                                                         ///< up to step_s within the marker's resolution
  double wall_s = 0;                                     ///< host clock, device synchronized before and after
  double data_wait_host_s = 0;                           ///< the host blocked on the loader, total
  int64_t samples = 0, tokens = 0, images = 0;           ///< really processed in the whole block
  std::vector<double> losses;                            ///< per step
  std::optional<int64_t> skipped_steps = {};             ///< see BlockFacts
};

/// Warm-up as it went: what was discarded and why it ended.
struct WarmupSamples {
  std::vector<double> step_s;
  bool steady = false;
  std::string reason;  ///< one sentence
};

/// Peak memory of the timed steps, bytes; absent where the device cannot say.
struct MemorySamples {
  std::optional<int64_t> allocated_bytes, reserved_bytes, device_used_bytes, host_bytes;
  std::optional<int64_t> load_host_bytes;  ///< host peak before the timed steps
};

/// One turn of a launch that takes turns with another.
struct TurnSamples {
  int64_t steps = 0;                                  ///< timed ones
  double wall_s = 0;                                  ///< host clock, device synchronized before and after
  std::optional<int64_t> queue_depth = std::nullopt;  ///< batches ready when it began; absent without loader
                                                      ///< workers
};

/// One rank of a job of several, over the timed steps.
struct RankSamples {
  int64_t rank = 0;
  std::string host, device_name;
  std::optional<std::string> device_uuid;
  std::vector<double> step_s;          ///< per timed step
  double compute_s = 0;                ///< mean per step outside of collectives and waits for them
  double communication_s = 0;          ///< mean per step inside collectives: union of their intervals
  double communication_exposed_s = 0;  ///< mean per step: wait after the last gradient was ready
  int64_t samples = 0, tokens = 0, images = 0;  ///< of this rank, in the whole block
  int64_t communication_bytes = 0;              ///< per step: the whole buffers handed to collectives, each
                                                ///< collective counted once, as one rank sees them
  std::optional<int64_t> memory_peak_bytes;     ///< of its device; on a CPU, of its process
};

/// How the ranks of a job of several exchanged their gradients.
struct CommunicationSamples {
  std::string backend;                  ///< gloo, nccl
  std::string collective;               ///< all_reduce, reduce_scatter+all_gather
  std::optional<double> exposed_ratio;  ///< of the step, 0 to 1: from steps with and without the exchange
  std::string exposed_reason;           ///< why that is absent; else empty
};

/// What one worker process leaves behind: the raw-sample file, `flopmark.samples/1`.
struct LaunchSamples {
  std::string status = "ok";  ///< ok, failed, incomplete
  std::optional<Failure> failure;
  Environment environment;  ///< the part only the worker knows (device, LibTorch, CUDA, threads, compiler)
  DataSummary data;
  nlohmann::json model_data;     ///< data.batch_size and data.inputs as an exported model has them; else null
  std::string matmul_precision;  ///< fp32, tf32, bf16: the peak row the matmuls ran under
  std::string attention_kernel;  ///< what ran: fused, unfused, none; empty: not known
  int64_t parameters = 0;
  WarmupSamples warmup;
  BlockSamples timed;
  std::vector<TurnSamples> turns;  ///< of a launch that took turns; `timed` holds their steps in order
  std::optional<BlockSamples>
      cached;  ///< measure.loader both: steps on one batch made before; in no other figure
  MemorySamples memory;
  std::optional<Conditions> conditions;  ///< of the timed steps
  std::optional<Ruler> ruler;            ///< before the model was made, and after the timed steps
  std::optional<bool> zero_inputs;  ///< what the model read held nothing but zeros: in the last timed batch
                                    ///< and in those of the counted step
  std::optional<FlopTotals> flops;
  int64_t counted_samples = 0;           ///< in the step that `flops` is of; 0: a usual step's
  std::vector<MatmulRate> matmul_rates;  ///< of `flopmark peak --measure` only
  /// In rank 0's file of a job of several, by rank; else empty. `timed` then holds the sums of samples,
  /// tokens and images over the ranks, the time until the slowest had ended each step, and phases that add
  /// up to it (joined_block.h).
  std::vector<RankSamples> ranks;
  std::optional<CommunicationSamples> communication;  ///< present where `ranks` is not empty
};

/// Losses that are not finite are written as null and read back as NaN; a time that is not finite is refused.
/// @throws std::logic_error for such a time.
nlohmann::json to_json(const LaunchSamples& samples);
/// @throws std::exception on anything that is not flopmark.samples/1: the text names the key.
LaunchSamples launch_samples_from_json(const nlohmann::json& json);

/// One entry of `ranks`; a time that is not finite is refused. @throws std::logic_error for such a time.
nlohmann::json to_json(const RankSamples& rank);
/// @throws std::exception naming a key that is missing or of the wrong type.
RankSamples rank_samples_from_json(const nlohmann::json& json);

/// The `communication` object of samples.
nlohmann::json to_json(const CommunicationSamples& communication);
/// @throws std::exception naming a key that is missing or of the wrong type, or an exposed_ratio outside 0
/// to 1.
CommunicationSamples communication_samples_from_json(const nlohmann::json& json);

/// The `environment` object of samples and records, and what `flopmark env` prints. Unknown is null.
nlohmann::json to_json(const Environment& environment);
/// @throws std::exception naming a key of the wrong type.
Environment environment_from_json(const nlohmann::json& json);

/// The `flops` object of samples, records and `flopmark flops`, with `model_flop` and `hardware_flop`.
nlohmann::json to_json(const FlopTotals& totals);
/// @throws std::exception if a key is missing, a count is not a whole number from 0 up, or a sum does not fit
/// its parts; the text names the key.
FlopTotals flop_totals_from_json(const nlohmann::json& json);

/// Written whole to a temporary file beside `path`, then renamed; bytes that are not UTF-8 are replaced.
/// @throws Error 125 if it cannot be written.
void write_samples(const LaunchSamples& samples, const std::filesystem::path& path);
/// @throws Error 205 if the file is not one.
LaunchSamples read_samples(const std::filesystem::path& path);

}  // namespace flopmark
