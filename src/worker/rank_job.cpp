#include "worker/rank_job.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "config/rank_names.h"
#include "data/content_hash.h"
#include "flopmark/counted.h"
#include "flopmark/error.h"
#include "hardware/environment.h"
#include "launch/protocol.h"
#include "measure/joined_block.h"
#include "train/rank_agreement.h"
#include "worker/device_facts.h"

namespace flopmark {
namespace {

/// How long a rank waits for the others' word on why a collective failed.
constexpr double kWordLimit_s = 2;

bool is_cuda(const std::string& device) {
  return device.rfind("cuda", 0) == 0;
}

/// gloo or nccl.
std::string chosen_backend(const std::string& wanted, const std::string& device) {
  if (wanted == "nccl" && !is_cuda(device)) {
    throw usage_error(
        "parallel.backend: nccl exchanges between GPUs, but the ranks run on a CPU; use gloo or auto");
  }
  if (wanted == "auto") return is_cuda(device) ? "nccl" : "gloo";
  return wanted;
}

/// Of sizes and dtypes, in order.
std::string shapes_hash(const std::vector<torch::Tensor>& parameters) {
  std::string text;
  for (const auto& parameter : parameters) {
    text += fmt::format("{}[", c10::toString(parameter.scalar_type()));
    for (const int64_t size : parameter.sizes()) text += fmt::format("{},", size);
    text += "]";
  }
  ContentHash hash;
  hash.add(std::as_bytes(std::span(text.data(), text.size())));
  return fmt::format("{:016x}", hash.value());
}

/// With a launcher's number of ranks, and the device.
RunConfig of_rank(RunConfig config, const RankPlace& place, const std::string& device) {
  config.parallel.ranks = place.ranks;
  config.device = device;
  return config;
}

/// "timed step 7", "phase load".
std::string place_of(const Failure& failure) {
  return failure.step ? fmt::format("{} step {}", failure.phase, *failure.step)
                      : fmt::format("phase {}", failure.phase);
}

}  // namespace

RankJob::RankJob(const RankPlace& place, const RunConfig& config)
    : place_(place),
      config_(of_rank(config, place, rank_device(config.device, place))),
      backend_(chosen_backend(config.parallel.backend, config_.device)),
      group_({.place = place, .timeout_s = config.parallel.timeout_s}) {}

/// Those that share this rank's CPUs. A launcher may have given each rank its own already.
int64_t RankJob::ranks_on_these_cpus() const {
  const RankGroup::Host& own = group_.host(place_.rank);
  int64_t count = 0;
  for (int64_t rank = 0; rank < place_.ranks; ++rank) {
    const RankGroup::Host& other = group_.host(rank);
    if (other.name == own.name && other.cpus == own.cpus) ++count;
  }
  return std::max<int64_t>(count, 1);
}

RunConfig RankJob::config() const {
  RunConfig config = config_;
  if (!is_cuda(config.device) && config.measure.threads == 0) {
    const int64_t cpus = host_environment().cpu_logical.value_or(1);
    config.measure.threads = std::max<int64_t>(1, cpus / ranks_on_these_cpus());
  }
  return config;
}

bool RankJob::reads_ruler() const {
  return is_cuda(config_.device) || place_.local_rank == 0;
}

void RankJob::agree(const Job& job) {
  const auto parameters = job.model->parameters();
  RankFacts facts{.device_kind = job.device.is_cpu() ? "cpu" : "cuda",
                  .libtorch = TORCH_VERSION,
                  .data = job.data,
                  .parameters = 0,
                  .shapes_hash = shapes_hash(parameters)};
  for (const auto& parameter : parameters) facts.parameters += parameter.numel();
  const auto all = group_.gather("facts", facts_to_json(facts, config_));
  const std::vector<std::string> hosts = group_.host_names();
  const std::string differences = difference_of(all, hosts);
  if (!differences.empty()) {
    throw usage_error(
        "the ranks of this job are not alike, and nothing was measured; give each the same config, data and "
        "build:" +
        differences);
  }
  require_own_gpus(worker_environment(job.device).device_uuid.value_or(""), hosts);
  group_.connect(backend_, job.device);
  group_.broadcast(parameters);
}

/// @throws Error 200, the same on all ranks, if two of them share a GPU.
void RankJob::require_own_gpus(const std::string& uuid, const std::vector<std::string>& hosts) {
  std::vector<std::string> uuids;
  for (const auto& each : group_.gather("gpu", uuid)) uuids.push_back(each.get<std::string>());
  const std::string shared = shared_gpu(uuids, hosts);
  if (shared.empty()) return;
  throw usage_error(shared +
                    "; let each process see all GPUs of its host, or another one (CUDA_VISIBLE_DEVICES), or "
                    "start fewer ranks");
}

RankSamples RankJob::summary_of(const LaunchSamples& samples, const ExchangeTimes& times) const {
  const MemorySamples& memory = samples.memory;
  return {.rank = place_.rank,
          .host = group_.host(place_.rank).name,
          .device_name = samples.environment.device_name.value_or("not known"),
          .device_uuid = samples.environment.device_uuid,
          .step_s = samples.timed.step_s,
          .compute_s = times.compute_s,
          .communication_s = times.total_s,
          .communication_exposed_s = times.exposed_s,
          .samples = samples.timed.samples,
          .tokens = samples.timed.tokens,
          .images = samples.timed.images,
          .communication_bytes = times.bytes,
          .memory_peak_bytes = memory.allocated_bytes ? memory.allocated_bytes : memory.host_bytes};
}

void RankJob::join(LaunchSamples& samples, const RankSamples& own) {
  const nlohmann::json word = {{"summary", to_json(own)}, {"wall_s", samples.timed.wall_s}};
  samples.environment.device_count = place_.ranks;
  if (place_.rank != 0) {
    group_.leave("summary", word);
    samples.communication.reset();
    return;
  }
  double wall_s = samples.timed.wall_s;
  for (const auto& each : group_.gather("summary", word)) {
    samples.ranks.push_back(rank_samples_from_json(each.at("summary")));
    wall_s = std::max(wall_s, each.at("wall_s").get<double>());
  }
  join_ranks(samples.timed, samples.ranks);
  samples.timed.wall_s = wall_s;
}

Failure RankJob::explained(Failure failure, const PeerLost* lost) {
  if (failure.kind == "nan_loss") {  // no rank's own: it is the mean of all
    failure.text += fmt::format("; it is the mean of the losses of {}, and the fault of any of them",
                                counted(place_.ranks, "rank"));
  } else {
    blame(failure, place_.rank);
  }
  group_.note_failure(failure, /*own=*/lost == nullptr);
  return lost == nullptr ? failure : lost_peer(failure, *lost);
}

void RankJob::blame(Failure& failure, int64_t rank) const {
  failure.rank = rank;
  failure.host = group_.host_name(rank);
}

/// Another rank's own failure, as the one that lost it tells it.
Failure RankJob::failure_of_peer(int64_t rank, Failure cause) const {
  cause.kind = kPeerLost;
  std::vector<std::string> hosts = group_.host_names();
  hosts.at(static_cast<size_t>(rank)) = cause.host.value_or("");
  cause.text = fmt::format("{} failed in {}: {}", rank_list({rank}, hosts), place_of(cause), cause.text);
  return cause;
}

/// Those of the others that have said nothing.
std::vector<int64_t> RankJob::silent_ranks(const std::map<int64_t, RankGroup::Noted>& noted) const {
  std::vector<int64_t> silent;
  for (int64_t rank = 0; rank < place_.ranks; ++rank) {
    if (rank != place_.rank && noted.count(rank) == 0) silent.push_back(rank);
  }
  return silent;
}

Failure RankJob::lost_peer(const Failure& here, const PeerLost& lost) {
  bool reachable = false;
  const auto noted = group_.noted_failures(kWordLimit_s, reachable);
  for (const auto& [rank, entry] : noted) {
    if (entry.own) return failure_of_peer(rank, entry.failure);
  }
  Failure failure = here;
  failure.kind = kPeerLost;
  failure.rank.reset();
  failure.host.reset();
  if (lost.rank) {  // it never came
    blame(failure, *lost.rank);
    return failure;
  }
  std::vector<int64_t> silent;
  const bool lost_meeting =
      !reachable && place_.meeting_file.empty() && !place_.agent_store && place_.rank != 0;
  if (lost_meeting) silent.push_back(0);
  if (reachable) silent = silent_ranks(noted);
  if (!silent.empty()) {
    if (silent.size() == 1) blame(failure, silent.front());  // several: healthy ones may just be late
    failure.text = fmt::format("no word from {}{} since {}: {}", rank_list(silent, group_.host_names()),
                               lost_meeting ? ", which holds the meeting," : "", place_of(here), here.text);
    return failure;
  }
  failure.text = fmt::format(
      "the ranks lost each other in {}, and none failed by itself: does the network between "
      "their hosts hold? ({})",
      place_of(here), here.text);
  return failure;
}

std::optional<Failure> RankJob::given_up(const Failure& here) {
  if (!group_.is_given_up()) return std::nullopt;
  bool reachable = false;
  const auto noted = group_.noted_failures(0, reachable);
  for (const auto& [rank, entry] : noted) {
    if (entry.own) return failure_of_peer(rank, entry.failure);
  }
  const std::vector<int64_t> silent = silent_ranks(noted);
  Failure failure = here;
  const std::string stood =
      fmt::format("stood still in {} for {:g} s (parallel.timeout_s)", place_of(here), group_.timeout_s());
  if (!reachable || !silent.empty()) {
    failure.kind = kPeerLost;
    failure.text =
        fmt::format("rank {} {}, and {}", place_.rank, stood,
                    reachable ? "there is no word from " + rank_list(silent, group_.host_names()) + " either"
                              : "the meeting of the ranks is gone");
    return failure;
  }
  blame(failure, place_.rank);
  failure.kind = "timeout";
  failure.text = stood + ": the other ranks waited for it in vain";
  return failure;
}

void RankJob::note(const Failure& failure) noexcept {
  group_.note_failure(failure, /*own=*/failure.kind != kPeerLost);
}

void RankJob::linger() const {
  const bool holds_meeting = place_.rank == 0 && place_.meeting_file.empty() && !place_.agent_store;
  if (holds_meeting) std::this_thread::sleep_for(std::chrono::duration<double>(kWordLimit_s));
}

}  // namespace flopmark
