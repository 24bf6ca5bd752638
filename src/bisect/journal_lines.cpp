#include "bisect/journal_lines.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "measure/json_fields.h"

namespace flopmark {
namespace {

using nlohmann::json;

json failure_json(const SideFailure& failure) {
  return {{"side", failure.side},
          {"pair", failure.pair},
          {"kind", failure.failure.kind},
          {"phase", failure.failure.phase},
          {"step", nullable(failure.failure.step)},
          {"text", failure.failure.text}};
}

SideFailure parse_failure(const json& object) {
  return {text_field(object, "side"),
          static_cast<size_t>(count_field(object, "pair")),
          {text_field(object, "kind"), text_field(object, "phase"), optional_count_field(object, "step"),
           text_field(object, "text")}};
}

json phase_json(const PhaseChange& phase) {
  return {{"name", phase.name},
          {"a_s", phase.a_s},
          {"b_s", phase.b_s},
          {"change_s", phase.change_s},
          {"ci95_low_s", nullable(phase.ci95_low_s)},
          {"ci95_high_s", nullable(phase.ci95_high_s)},
          {"step_share_ratio", phase.step_share_ratio},
          {"changed", phase.changed}};
}

PhaseChange parse_phase(const json& object) {
  return {text_field(object, "name"),
          number_field(object, "a_s"),
          number_field(object, "b_s"),
          number_field(object, "change_s"),
          optional_number_field(object, "ci95_low_s"),
          optional_number_field(object, "ci95_high_s"),
          number_field(object, "step_share_ratio"),
          bool_field(object, "changed")};
}

json operator_json(const OperatorChange& changed) {
  return {{"name", changed.name},
          {"calls_a", changed.calls_a},
          {"calls_b", changed.calls_b},
          {"hardware_flop_a", changed.hardware_flop_a},
          {"hardware_flop_b", changed.hardware_flop_b}};
}

OperatorChange parse_operator(const json& object) {
  return {text_field(object, "name"), count_field(object, "calls_a"), count_field(object, "calls_b"),
          count_field(object, "hardware_flop_a"), count_field(object, "hardware_flop_b")};
}

PairRatios parse_pair(const json& values) {
  if (!values.is_array() || values.size() != kSummaries.size()) {
    throw std::runtime_error(fmt::format("a pair must have {} numbers", kSummaries.size()));
  }
  for (const json& value : values) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      throw std::runtime_error("a pair must be of finite numbers");
    }
  }
  return {values[0].get<double>(), values[1].get<double>(), values[2].get<double>()};
}

PairedEnd parse_end(const std::string& text) {
  for (const PairedEnd end : {PairedEnd::decided, PairedEnd::cap, PairedEnd::budget, PairedEnd::failed}) {
    if (text == to_text(end)) return end;
  }
  throw std::runtime_error("key \"end\" must be decided, cap, budget or failed, found \"" + text + "\"");
}

}  // namespace

json build_json(const std::string& commit, const CommitBuild& build) {
  return {{"commit", commit},         {"built", build.built},   {"artifact_hash", build.artifact_hash},
          {"why_not", build.why_not}, {"took_s", build.took_s}, {"notes", build.notes}};
}

CommitBuild parse_build(const json& object) {
  CommitBuild build;
  build.built = bool_field(object, "built");
  build.artifact_hash = text_field(object, "artifact_hash");
  build.why_not = text_field(object, "why_not");
  build.took_s = number_field(object, "took_s");
  build.from_cache = true;
  for (const json& note : array_field(object, "notes")) build.notes.push_back(note.get<std::string>());
  return build;
}

json evidence_json(const ComparisonRequest& request, const PairedEvidence& evidence) {
  json object{{"comparison", to_text(request.comparison)},
              {"a", request.a},
              {"b", request.b},
              {"attempt", request.attempt},
              {"mid_ratio", nullable(request.rule.mid_ratio)},
              {"end", to_text(evidence.end)},
              {"disturbed_pairs", evidence.disturbed_pairs},
              {"took_s", evidence.took_s},
              {"failure", evidence.failure ? failure_json(*evidence.failure) : json(nullptr)},
              {"pairs", json::array()},
              {"phases", json::array()},
              {"operators", json::array()}};
  for (const PairRatios& pair : evidence.pairs) {
    object["pairs"].push_back({pair.throughput, pair.typical, pair.floor});
  }
  for (const PhaseChange& phase : evidence.phases) object["phases"].push_back(phase_json(phase));
  for (const OperatorChange& changed : evidence.operators)
    object["operators"].push_back(operator_json(changed));
  return object;
}

PairedEvidence parse_evidence(const json& object) {
  PairedEvidence evidence;
  evidence.end = parse_end(text_field(object, "end"));
  evidence.disturbed_pairs = static_cast<size_t>(count_field(object, "disturbed_pairs"));
  evidence.took_s = number_field(object, "took_s");
  if (!field(object, "failure").is_null()) evidence.failure = parse_failure(field(object, "failure"));
  for (const json& pair : array_field(object, "pairs")) evidence.pairs.push_back(parse_pair(pair));
  for (const json& phase : array_field(object, "phases")) evidence.phases.push_back(parse_phase(phase));
  for (const json& changed : array_field(object, "operators")) {
    evidence.operators.push_back(parse_operator(changed));
  }
  if (evidence.pairs.empty() && !evidence.failure) throw std::runtime_error("key \"pairs\" is empty");
  return evidence;
}

}  // namespace flopmark
