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

namespace flopmark {

enum class Phase : size_t { data, transfer, forward, backward, optimizer, other };
inline constexpr size_t kPhaseCount = 6;

/// Raw times of a block of consecutive steps.
struct BlockSamples {
  int64_t steps = 0;             ///< finished; fewer than asked for when stopped
  std::vector<double> step_s;    ///< start of the step to start of the next (the last: to its end)
  std::array<std::vector<double>, kPhaseCount> phase_s;  ///< per phase and step; add up to step_s
  double wall_s = 0;             ///< host clock, device synchronized before and after
  double data_wait_host_s = 0;   ///< total
  int64_t samples = 0, tokens = 0, images = 0;
  std::vector<double> losses;    ///< per step
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

/// What one worker process leaves behind: the raw-sample file, `flopmark.samples/1`.
struct LaunchSamples {
  std::string status = "ok";  ///< ok, failed, incomplete
  std::optional<Failure> failure;
  Environment environment;    ///< the part only the worker knows (device, LibTorch, CUDA, threads, compiler)
  DataSummary data;
  std::string matmul_precision;  ///< fp32, tf32, bf16: the peak row the matmuls ran under
  std::string attention_kernel;  ///< what ran: fused, unfused, none
  int64_t parameters = 0;
  WarmupSamples warmup;
  BlockSamples timed;
  MemorySamples memory;
  std::optional<FlopTotals> flops;
};

nlohmann::json to_json(const LaunchSamples& samples);
/// @throws std::exception on anything that is not flopmark.samples/1.
LaunchSamples launch_samples_from_json(const nlohmann::json& json);

nlohmann::json to_json(const FlopTotals& totals);
FlopTotals flop_totals_from_json(const nlohmann::json& json);

/// Written whole to a temporary file beside `path`, then renamed. @throws Error 125.
void write_samples(const LaunchSamples& samples, const std::filesystem::path& path);
/// @throws Error 205 if the file is not one.
LaunchSamples read_samples(const std::filesystem::path& path);

}  // namespace flopmark
