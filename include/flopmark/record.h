#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "flopmark/conditions.h"
#include "flopmark/flop_totals.h"
#include "flopmark/ruler.h"

namespace flopmark {

inline constexpr const char* kRecordSchema = "flopmark.record/1";

/// A doubt about a run, as data. `code` is stable (not_steady, drift, ...), `text` says what to do.
struct Warning {
  std::string code;
  std::string text;
};

/// The tree being measured. Where there is no commit, `reason` says why in Git's own words.
struct Subject {
  std::optional<std::string> commit;  ///< 40 hex digits
  std::optional<bool> dirty;          ///< changes outside baselines/ and results/
  std::optional<std::string> branch;  ///< absent when detached
  std::optional<std::string> reason;
};

/// Where it ran. Unknown is absent. Each field is named once more, in hardware/environment_fields.h.
struct Environment {
  std::optional<std::string> device_name;
  int64_t device_count = 1;
  std::optional<std::string> driver, libtorch, cuda, cudnn, nccl, compiler, cpu_model, os, governor,
      interconnect;
  std::optional<bool> worker_debug;             ///< assertions on, or not optimized
  std::optional<std::string> libtorch_build;    ///< Release, Debug, ... as LibTorch says
  std::optional<std::string> sanitizers;        ///< in the worker's process: none, or their names
  std::optional<int64_t> cpu_logical, threads;  ///< cpu_logical: those this process may use
  std::optional<int64_t> sm_count;    ///< of one GPU (of a MIG slice: its own), as the driver counts them
  std::optional<double> sm_clock_hz;  ///< the highest SM clock the driver allows
  std::map<std::string, std::string> variables;  ///< speed-changing environment variables that are set

  // The device in use, as NVML knows it.
  std::optional<std::string> device_uuid, device_pci_bus_id, mig_profile;  ///< profile such as 3g.20gb
  std::optional<int64_t> device_memory_bytes;
  std::optional<double> device_max_clock_hz, device_max_memory_clock_hz;
  std::optional<double> device_application_clock_hz;  ///< what the clock is set to, where it can be set
  std::optional<double> device_power_limit_w;         ///< enforced
  std::optional<bool> ecc, persistence_mode, mig, cudnn_benchmark;

  // The host.
  std::optional<bool> turbo, smt;           ///< smt: two threads of a core share its units
  std::optional<double> cpu_max_clock_hz;   ///< the fastest CPU's
  std::optional<std::string> cpu_affinity;  ///< CPUs this process may use, such as 0-3,8
  std::optional<int64_t> numa_nodes, memory_bytes;
  std::optional<double> cgroup_cpus;           ///< CPU seconds per second; absent without a limit
  std::optional<int64_t> cgroup_memory_bytes;  ///< absent without a limit
  std::optional<std::string> container;  ///< docker, podman, kubernetes, lxc, ...; absent: no sign of one
};

/// The dense peak that MFU divides by. `source`: table, by_hand, measured (see `flopmark peak --measure`), or
/// none (then `reason` says why). `precision` names several, joined by "+", where more than one carried
/// FLOPs.
struct Peak {
  std::optional<double> flop_per_s;
  std::string precision;
  std::string source;
  std::optional<std::string> device;
  std::optional<std::string> reason;
  std::optional<std::string> derivation = {};  ///< how a figure that is in no table as such came about
};

/// Statistics of the step time in seconds. Quantiles and mean are over all timed steps; the interval is
/// a 95 % interval of the mean made from the launches' means (absent with one launch).
struct StepStatistics {
  double median = 0, mean = 0, p10 = 0, p90 = 0, p99 = 0;
  std::optional<double> ci95_low, ci95_high;
};

/// Metrics by key, one row each in src/metrics; an unknown value is null with its reason in a warning.
struct Metrics {
  std::optional<StepStatistics> step_s;
  std::map<std::string, std::optional<double>> values;
};

/// Mean seconds per step of each phase; they add up to the step.
struct Phases {
  double data_s = 0, transfer_s = 0, forward_s = 0, backward_s = 0, communication_exposed_s = 0,
         optimizer_s = 0, other_s = 0;
  double data_wait_host_s = 0;  ///< the host's own wait for the loader; not part of the sum
};

/// Warm-up of the launch that needed most steps; steady only if every launch was.
struct WarmupSummary {
  int64_t steps = 0;
  double first_step_s = 0;
  bool steady = false;
  std::string reason;
};

/// Why a run has no result. `step` counts from 1 within `phase` (load, warmup, timed, cached, count, save).
struct Failure {
  std::string kind;  ///< out_of_memory, crash, killed, timeout, nan_loss, peer_lost, error
  std::string phase;
  std::optional<int64_t> step;
  std::string text;
  std::optional<int64_t> rank = {};      ///< of a job of several: the rank that failed
  std::optional<std::string> host = {};  ///< where it ran
};

/// One launch (a fresh process). `step_s` is empty in a baseline.
struct Repeat {
  int64_t steps = 0, samples = 0, tokens = 0, images = 0;
  double wall_s = 0;
  std::vector<double> block_means_s;
  std::optional<double> loss_first, loss_last;
  std::vector<double> step_s;
  /// Updates left out for an overflow; absent where losses are not scaled.
  std::optional<int64_t> skipped_steps = {};
};

/// What is known of the files a run trained on.
struct DataSummary {
  /// `hash`: of the whole file, 16 hex digits; of a plug-in's data set its own, else that of the library.
  std::optional<std::string> path, format, hash;
  std::optional<int64_t> samples, tokens;
  std::optional<std::string> model_hash;  ///< of the file of a model from one, made as `hash`
};

/// One rank of a job of several: means over the timed steps of all launches.
struct RankSummary {
  int64_t rank = 0;
  std::string host, device_name;
  std::optional<std::string> device_uuid;
  double step_s = 0;
  double compute_s = 0;                ///< own work: until its last collective could start, and after it
  double communication_s = 0;          ///< inside collectives; waiting there for a slower rank counts
  double communication_exposed_s = 0;  ///< of these, after this rank's last gradient was ready
  std::optional<double> samples_per_s;
  std::optional<int64_t> memory_peak_bytes;  ///< the highest of all launches: of the device, else the process
};

/// How the ranks of a job of several exchanged their gradients. Times are means over ranks and steps.
struct CommunicationSummary {
  std::string backend, collective;
  int64_t bytes_per_step = 0;  ///< of the buffers that one rank hands to collectives
  double total_s = 0;          ///< inside collectives, hidden behind backward or not
  double exposed_s = 0;        ///< after the last gradient was ready
  /// As nccl-tests has it: bytes / time x 2 (n - 1) / n of an all-reduce, (n - 1) / n of the others; of the
  /// rank that is inside collectives for the shortest time, as it waits for nobody.
  std::optional<double> bus_bandwidth_bytes_per_s;
  std::optional<double> exposed_ratio;        ///< of the step, from steps with and without the exchange
  std::optional<std::string> exposed_reason;  ///< why that is not known
};

/// Everything about one measured run; written to results/ whole, to baselines/ without raw steps.
struct RunRecord {
  std::string name;
  std::string status = "ok";  ///< ok, invalid, failed, incomplete
  std::string time;           ///< UTC to the millisecond, ISO 8601
  std::vector<std::string> command_line;
  std::string flopmark_version;
  std::vector<Warning> warnings;
  nlohmann::json config;  ///< resolved: every key with its effective value
  Subject subject;
  Environment environment;
  DataSummary data;
  std::optional<int64_t> parameters;
  std::optional<std::string> attention_kernel;  ///< what ran: fused, unfused, none; absent: not known
  std::optional<FlopTotals> flops;
  Peak peak;
  Metrics metrics;
  std::optional<Phases> phases;
  std::vector<RankSummary> ranks;                     ///< by rank; empty for one
  std::optional<CommunicationSummary> communication;  ///< absent for one rank
  std::optional<Conditions> conditions;               ///< of all launches
  std::optional<Ruler> ruler;                         ///< readings of all launches, in order of time
  std::optional<WarmupSummary> warmup;
  std::optional<Failure> failure;
  std::optional<std::string> forced_reason;  ///< a baseline saved against a refusal: why
  std::optional<std::string> anchor_reason;  ///< an anchor that was moved by hand: why
  std::vector<Repeat> repeats;
};

}  // namespace flopmark
