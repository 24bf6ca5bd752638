#include "measure/samples.h"
#include "report/bisect_parts.h"
#include "report/comparison_parts_json.h"
#include "report/paired_parts_json.h"

namespace flopmark {
namespace {

using nlohmann::json;

json change_json(const std::optional<ChangeRange>& change) {
  if (!change) return nullptr;
  return {{"change_ratio", change->change_ratio},
          {"limit_low_ratio", finite_or_null(change->low_ratio)},
          {"limit_high_ratio", finite_or_null(change->high_ratio)}};
}

json pairs_json(const std::vector<PairRatios>& pairs) {
  json list = json::array();
  for (const PairRatios& pair : pairs) {
    json object = json::object();
    for (const Summary summary : kSummaries) object[to_text(summary)] = {{"log_ratio", pair.of(summary)}};
    list.push_back(std::move(object));
  }
  return list;
}

json evidence_json(const PairedEvidence& evidence) {
  json object = judgement_json(evidence.judgement);
  object.update({{"end", to_text(evidence.end)},
                 {"pairs", pairs_json(evidence.pairs)},
                 {"disturbed_pairs", evidence.disturbed_pairs},
                 {"failure", failure_json(evidence.failure)},
                 {"took_s", evidence.took_s},
                 {"phases", phases_json(evidence.phases)},
                 {"operators", operators_json(evidence.operators)}});
  return object;
}

json evidences_json(const std::vector<PairedEvidence>& evidences) {
  json list = json::array();
  for (const PairedEvidence& evidence : evidences) list.push_back(evidence_json(evidence));
  return list;
}

json build_json(const CommitBuild& build) {
  return {{"built", build.built},   {"artifact_hash", build.artifact_hash}, {"why_not", build.why_not},
          {"took_s", build.took_s}, {"from_cache", build.from_cache},       {"notes", build.notes}};
}

json commit_json(const RangeCommit& commit) {
  return {{"commit", commit.hash}, {"subject", commit.subject}, {"parent", commit.parent}};
}

json tested_json(const BisectReport& report) {
  json list = json::array();
  for (const TestedCommit& tested : report.result.tested) {
    json object = commit_json(report.range.commits.at(tested.commit));
    object.update({{"state", to_text(tested.state)},
                   {"build", build_json(tested.build)},
                   {"same_as", text_or_null(tested.same_as)},
                   {"change", change_json(tested.change)},
                   {"intermediate", tested.intermediate},
                   {"reason", tested.reason},
                   {"evidence", evidences_json(tested.evidence)}});
    list.push_back(std::move(object));
  }
  return list;
}

json candidates_json(const BisectReport& report) {
  json list = json::array();
  for (const size_t candidate : report.result.candidates) {
    list.push_back(commit_json(report.range.commits.at(candidate)));
  }
  return list;
}

json culprit_json(const BisectReport& report) {
  const auto culprit = culprit_of(report.result);
  return culprit ? commit_json(report.range.commits.at(*culprit)) : json(nullptr);
}

json regression_json(const std::optional<Regression>& regression) {
  if (!regression) return nullptr;
  json object = change_json(regression->change);
  object["gate"] = to_text(regression->gate);
  object["mid_ratio"] = regression->mid_ratio();
  return object;
}

json halves_json(const std::vector<OtherHalf>& halves) {
  json list = json::array();
  for (const OtherHalf& half : halves) list.push_back({{"good", half.good}, {"bad", half.bad}});
  return list;
}

json commands_json(const std::vector<BisectReport::Command>& commands) {
  json list = json::array();
  for (const BisectReport::Command& command : commands) {
    list.push_back({{"what", command.what}, {"line", command.line}});
  }
  return list;
}

}  // namespace

std::string bisect_json(const BisectReport& report) {
  const BisectionResult& result = report.result;
  json whole{{"schema", "flopmark.bisection/1"},
             {"name", report.config},
             {"outcome", to_text(result.outcome)},
             {"reason", result.reason},
             {"good", report.range.good},
             {"bad", report.range.bad},
             {"commits", report.range.commits.size()},
             {"build", report.build},
             {"artifact", report.artifact},
             {"builds", report.builds},
             {"seed", report.seed},
             {"took_s", report.took_s},
             {"culprit", culprit_json(report)},
             {"change", change_json(result.change)},
             {"regression", regression_json(result.regression)},
             {"candidates", candidates_json(report)},
             {"good_build", build_json(result.good_build)},
             {"bad_build", build_json(result.bad_build)},
             {"ends", evidences_json(result.ends)},
             {"tested", tested_json(report)},
             {"confirmation", evidences_json(result.confirmation)},
             {"smallest_traceable_ratio", finite_or_null(result.smallest_traceable_ratio)},
             {"other_halves", halves_json(result.other_halves)},
             {"environment", report.environment ? to_json(*report.environment) : json(nullptr)},
             {"commands", commands_json(report.commands)},
             {"notes", bisect_notes(report)}};
  return whole.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace flopmark
