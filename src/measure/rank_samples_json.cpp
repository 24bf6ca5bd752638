#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "measure/json_fields.h"
#include "measure/samples.h"

namespace flopmark {
namespace {

using Json = nlohmann::json;

void require_finite(double value, const char* key, int64_t rank) {
  if (std::isfinite(value)) return;
  throw std::logic_error(
      fmt::format("{} of rank {} is {}, not a finite number: please report this fault", key, rank, value));
}

}  // namespace

Json to_json(const RankSamples& rank) {
  for (const double step_s : rank.step_s) require_finite(step_s, "step_s", rank.rank);
  require_finite(rank.compute_s, "compute_s", rank.rank);
  require_finite(rank.communication_s, "communication_s", rank.rank);
  require_finite(rank.communication_exposed_s, "communication_exposed_s", rank.rank);
  return {{"rank", rank.rank},
          {"host", rank.host},
          {"device_name", rank.device_name},
          {"device_uuid", nullable(rank.device_uuid)},
          {"step_s", rank.step_s},
          {"compute_s", rank.compute_s},
          {"communication_s", rank.communication_s},
          {"communication_exposed_s", rank.communication_exposed_s},
          {"samples", rank.samples},
          {"tokens", rank.tokens},
          {"images", rank.images},
          {"communication_bytes", rank.communication_bytes},
          {"memory_peak_bytes", nullable(rank.memory_peak_bytes)}};
}

RankSamples rank_samples_from_json(const Json& json) {
  RankSamples rank;
  rank.rank = count_field(json, "rank");
  rank.host = text_field(json, "host");
  rank.device_name = text_field(json, "device_name");
  rank.device_uuid = optional_text_field(json, "device_uuid");
  rank.step_s = numbers_field(json, "step_s");
  rank.compute_s = number_field(json, "compute_s");
  rank.communication_s = number_field(json, "communication_s");
  rank.communication_exposed_s = number_field(json, "communication_exposed_s");
  rank.samples = count_field(json, "samples");
  rank.tokens = count_field(json, "tokens");
  rank.images = count_field(json, "images");
  rank.communication_bytes = count_field(json, "communication_bytes");
  rank.memory_peak_bytes = optional_count_field(json, "memory_peak_bytes");
  return rank;
}

Json to_json(const CommunicationSamples& communication) {
  return {{"backend", communication.backend},
          {"collective", communication.collective},
          {"exposed_ratio", nullable(communication.exposed_ratio)},
          {"exposed_reason", communication.exposed_reason}};
}

CommunicationSamples communication_samples_from_json(const Json& json) {
  CommunicationSamples communication;
  communication.backend = text_field(json, "backend");
  communication.collective = text_field(json, "collective");
  communication.exposed_ratio = optional_number_field(json, "exposed_ratio");
  if (const auto& ratio = communication.exposed_ratio; ratio && !(*ratio >= 0 && *ratio <= 1)) {
    throw std::runtime_error(fmt::format("key \"exposed_ratio\" must be from 0 to 1, found {}", *ratio));
  }
  communication.exposed_reason = text_field(json, "exposed_reason");
  return communication;
}

}  // namespace flopmark
