#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "measure/described_json.h"
#include "measure/json_fields.h"
#include "measure/samples.h"

namespace flopmark {
namespace {

constexpr const char* kSamplesSchema = "flopmark.samples/1";
constexpr std::array<const char*, kPhaseCount> kPhaseNames = {
    "data", "transfer", "forward", "backward", "communication", "optimizer", "other"};

using Json = nlohmann::json;

/// The JSON library writes a NaN as null without a word; a time must not vanish so.
Json finite(double value, const char* key) {
  if (!std::isfinite(value)) {
    throw std::logic_error(fmt::format("{} is {}, not a finite number: please report this fault", key,
                                       std::isnan(value) ? "nan" : fmt::format("{}", value)));
  }
  return value;
}

Json finite_list(const std::vector<double>& values, const char* key) {
  Json list = Json::array();
  for (const double value : values) {
    list.push_back(finite(value, key));
  }
  return list;
}

Json losses_to_json(const std::vector<double>& losses) {
  Json list = Json::array();
  for (const double loss : losses) {
    list.push_back(std::isfinite(loss) ? Json(loss) : Json(nullptr));
  }
  return list;
}

std::vector<double> losses_from_json(const Json& object) {
  std::vector<double> losses;
  for (const Json& value : array_field(object, "losses")) {
    if (!value.is_number() && !value.is_null()) {
      throw std::runtime_error("key \"losses\" must be a list of numbers and nulls");
    }
    losses.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
  }
  return losses;
}

Json failure_to_json(const Failure& failure) {
  Json json = {{"kind", failure.kind},
               {"phase", failure.phase},
               {"step", nullable(failure.step)},
               {"text", failure.text}};
  if (failure.rank) json["rank"] = *failure.rank;
  if (failure.host) json["host"] = *failure.host;
  return json;
}

Failure failure_from_json(const Json& json) {
  return {text_field(json, "kind"), text_field(json, "phase"),          optional_count_field(json, "step"),
          text_field(json, "text"), optional_count_field(json, "rank"), optional_text_field(json, "host")};
}

Json data_to_json(const DataSummary& data) {
  return {{"path", nullable(data.path)},     {"format", nullable(data.format)},
          {"hash", nullable(data.hash)},     {"samples", nullable(data.samples)},
          {"tokens", nullable(data.tokens)}, {"model_hash", nullable(data.model_hash)}};
}

DataSummary data_from_json(const Json& json) {
  return {optional_text_field(json, "path"),    optional_text_field(json, "format"),
          optional_text_field(json, "hash"),    optional_count_field(json, "samples"),
          optional_count_field(json, "tokens"), optional_text_field(json, "model_hash")};
}

Json memory_to_json(const MemorySamples& memory) {
  return {{"allocated_bytes", nullable(memory.allocated_bytes)},
          {"reserved_bytes", nullable(memory.reserved_bytes)},
          {"device_used_bytes", nullable(memory.device_used_bytes)},
          {"host_bytes", nullable(memory.host_bytes)},
          {"load_host_bytes", nullable(memory.load_host_bytes)}};
}

MemorySamples memory_from_json(const Json& json) {
  return {optional_count_field(json, "allocated_bytes"), optional_count_field(json, "reserved_bytes"),
          optional_count_field(json, "device_used_bytes"), optional_count_field(json, "host_bytes"),
          optional_count_field(json, "load_host_bytes")};
}

/// One rank exchanges nothing: its files need not say so.
bool is_unused(const BlockSamples& block, size_t phase) {
  return phase == static_cast<size_t>(Phase::communication) && block.phase_s[phase].empty();
}

Json block_to_json(const BlockSamples& block) {
  Json phases = Json::object();
  for (size_t i = 0; i < kPhaseCount; ++i) {
    if (is_unused(block, i)) continue;
    phases[kPhaseNames[i]] = finite_list(block.phase_s[i], kPhaseNames[i]);
  }
  return {{"steps", block.steps},
          {"step_s", finite_list(block.step_s, "step_s")},
          {"phase_s", std::move(phases)},
          {"wall_s", finite(block.wall_s, "wall_s")},
          {"data_wait_host_s", finite(block.data_wait_host_s, "data_wait_host_s")},
          {"samples", block.samples},
          {"tokens", block.tokens},
          {"images", block.images},
          {"losses", losses_to_json(block.losses)},
          {"skipped_steps", nullable(block.skipped_steps)}};
}

Json matmul_rates_to_json(const std::vector<MatmulRate>& rates) {
  Json list = Json::array();
  for (const MatmulRate& rate : rates) {
    list.push_back({{"precision", rate.precision},
                    {"m", rate.shape.m},
                    {"n", rate.shape.n},
                    {"k", rate.shape.k},
                    {"flop_per_s", finite(rate.flop_per_s, "flop_per_s")},
                    {"spread_ratio", finite(rate.spread_ratio, "spread_ratio")},
                    {"blocks", rate.blocks},
                    {"timed_s", finite(rate.timed_s, "timed_s")}});
  }
  return list;
}

std::vector<MatmulRate> matmul_rates_from_json(const Json& json) {
  std::vector<MatmulRate> rates;
  for (const Json& rate : array_field(json, "matmul_rates")) {
    rates.push_back({.precision = text_field(rate, "precision"),
                     .shape = {count_field(rate, "m"), count_field(rate, "n"), count_field(rate, "k")},
                     .flop_per_s = number_field(rate, "flop_per_s"),
                     .spread_ratio = number_field(rate, "spread_ratio"),
                     .blocks = count_field(rate, "blocks"),
                     .timed_s = number_field(rate, "timed_s")});
  }
  return rates;
}

Json turns_to_json(const std::vector<TurnSamples>& turns) {
  Json list = Json::array();
  for (const TurnSamples& turn : turns) {
    list.push_back({{"steps", turn.steps},
                    {"wall_s", finite(turn.wall_s, "wall_s of a turn")},
                    {"queue_depth", nullable(turn.queue_depth)}});
  }
  return list;
}

std::vector<TurnSamples> turns_from_json(const Json& json) {
  std::vector<TurnSamples> turns;
  for (const Json& turn : array_field(json, "turns")) {
    turns.push_back({.steps = count_field(turn, "steps"),
                     .wall_s = number_field(turn, "wall_s"),
                     .queue_depth = optional_count_field(turn, "queue_depth")});
  }
  return turns;
}

/// A list per step: one value for each, or none at all where it was not measured.
void check_length(const std::vector<double>& values, int64_t steps, const char* key) {
  if (!values.empty() && values.size() != static_cast<size_t>(steps)) {
    throw std::runtime_error(fmt::format("key \"{}\" has {} values for {} steps", key, values.size(), steps));
  }
}

std::vector<RankSamples> ranks_from_json(const Json& json, int64_t steps) {
  std::vector<RankSamples> ranks;
  for (const Json& rank : array_field(json, "ranks")) {
    ranks.push_back(rank_samples_from_json(rank));
    check_length(ranks.back().step_s, steps, "step_s of a rank");
  }
  return ranks;
}

BlockSamples block_from_json(const Json& json) {
  BlockSamples block;
  block.steps = count_field(json, "steps");
  block.step_s = numbers_field(json, "step_s");
  check_length(block.step_s, block.steps, "step_s");
  const Json& phases = field(json, "phase_s");
  for (size_t i = 0; i < kPhaseCount; ++i) {
    if (is_unused(block, i) && !phases.contains(kPhaseNames[i])) continue;
    block.phase_s[i] = numbers_field(phases, kPhaseNames[i]);
    check_length(block.phase_s[i], block.steps, kPhaseNames[i]);
  }
  block.wall_s = number_field(json, "wall_s");
  block.data_wait_host_s = number_field(json, "data_wait_host_s");
  block.samples = count_field(json, "samples");
  block.tokens = count_field(json, "tokens");
  block.images = count_field(json, "images");
  block.losses = losses_from_json(json);
  check_length(block.losses, block.steps, "losses");
  block.skipped_steps = optional_count_field(json, "skipped_steps");
  return block;
}

}  // namespace

Json to_json(const Environment& environment) {
  return DescribedWriter::json_of(environment);
}

Environment environment_from_json(const Json& json) {
  Environment environment;
  DescribedReader reader(json);
  describe(reader, environment);
  return environment;
}

Json to_json(const LaunchSamples& samples) {
  Json json = {{"schema", kSamplesSchema},
               {"status", samples.status},
               {"failure", samples.failure ? failure_to_json(*samples.failure) : Json(nullptr)},
               {"environment", to_json(samples.environment)},
               {"data", data_to_json(samples.data)},
               {"model_data", samples.model_data},
               {"matmul_precision", samples.matmul_precision},
               {"attention_kernel", samples.attention_kernel},
               {"parameters", samples.parameters},
               {"warmup",
                {{"step_s", finite_list(samples.warmup.step_s, "warmup step_s")},
                 {"steady", samples.warmup.steady},
                 {"reason", samples.warmup.reason}}},
               {"timed", block_to_json(samples.timed)},
               {"turns", turns_to_json(samples.turns)},
               {"cached", samples.cached ? block_to_json(*samples.cached) : Json(nullptr)},
               {"memory", memory_to_json(samples.memory)},
               {"conditions", DescribedWriter::json_of(samples.conditions)},
               {"ruler", DescribedWriter::json_of(samples.ruler)},
               {"zero_inputs", nullable(samples.zero_inputs)},
               {"flops", samples.flops ? to_json(*samples.flops) : Json(nullptr)},
               {"counted_samples", samples.counted_samples},
               {"matmul_rates", matmul_rates_to_json(samples.matmul_rates)}};
  if (!samples.ranks.empty()) {
    json["ranks"] = Json::array();
    for (const RankSamples& rank : samples.ranks) json["ranks"].push_back(to_json(rank));
  }
  if (samples.communication) json["communication"] = to_json(*samples.communication);
  return json;
}

LaunchSamples launch_samples_from_json(const Json& json) {
  if (const std::string schema = text_field(json, "schema"); schema != kSamplesSchema) {
    throw std::runtime_error(
        fmt::format("key \"schema\" is \"{}\", this program reads \"{}\"", schema, kSamplesSchema));
  }
  LaunchSamples samples;
  samples.status = text_field(json, "status");
  if (const Json& failure = field(json, "failure"); !failure.is_null()) {
    samples.failure = failure_from_json(failure);
  }
  samples.environment = environment_from_json(field(json, "environment"));
  samples.data = data_from_json(field(json, "data"));
  samples.model_data = json.value("model_data", Json(nullptr));
  samples.matmul_precision = text_field(json, "matmul_precision");
  samples.attention_kernel = text_field(json, "attention_kernel");
  samples.parameters = count_field(json, "parameters");
  const Json& warmup = field(json, "warmup");
  samples.warmup = {numbers_field(warmup, "step_s"), bool_field(warmup, "steady"),
                    text_field(warmup, "reason")};
  samples.timed = block_from_json(field(json, "timed"));
  if (json.contains("turns")) samples.turns = turns_from_json(json);
  if (json.contains("cached") && !json.at("cached").is_null())
    samples.cached = block_from_json(json.at("cached"));
  samples.counted_samples = optional_count_field(json, "counted_samples").value_or(0);
  samples.memory = memory_from_json(field(json, "memory"));
  DescribedReader reader(json);
  reader("conditions", samples.conditions);
  reader("ruler", samples.ruler);
  reader("zero_inputs", samples.zero_inputs);
  if (const Json& flops = field(json, "flops"); !flops.is_null()) {
    samples.flops = flop_totals_from_json(flops);
  }
  if (json.contains("matmul_rates")) samples.matmul_rates = matmul_rates_from_json(json);
  if (json.contains("ranks")) samples.ranks = ranks_from_json(json, samples.timed.steps);
  if (json.contains("communication")) {
    samples.communication = communication_samples_from_json(json.at("communication"));
  }
  return samples;
}

}  // namespace flopmark
