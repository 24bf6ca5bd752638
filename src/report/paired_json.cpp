#include "compare/paired_reason.h"
#include "report/comparison_parts_json.h"
#include "report/paired_parts_json.h"
#include "report/paired_report.h"

namespace flopmark {
namespace {

using nlohmann::json;

json variables_json(const std::vector<std::pair<std::string, std::string>>& variables) {
  json object = json::object();
  for (const auto& [name, value] : variables) object[name] = value;
  return object;
}

json paired_side_json(const PairedSide& side) {
  return {{"label", side.label},
          {"worker", side.worker},
          {"commit", text_or_null(side.commit)},
          {"set", side.sets},
          {"environment", variables_json(side.environment)}};
}

json judged_json(const SummaryJudgement& judged, const JudgeRule& rule) {
  json object{{"change_ratio", judged.change_ratio},
              {"ci95_low", finite_or_null(judged.ci95_low_ratio)},
              {"ci95_high", finite_or_null(judged.ci95_high_ratio)},
              {"limit_low_ratio", finite_or_null(judged.low_ratio)},
              {"limit_high_ratio", finite_or_null(judged.high_ratio)},
              {"level", judged.level},
              {"sigma_ratio", judged.sigma_ratio},
              {"smallest_effect_ratio", finite_or_null(judged.smallest_effect_ratio)},
              {"gates", judged.gates}};
  for (const Gate& gate : rule.gates) {
    if (gate.summary != judged.summary) continue;
    object["tolerance_ratio"] = gate.tol_ratio;
    object["good_bound_ratio"] = gate.good_bound_ratio();
    object["calibrated"] = gate.calibrated;
  }
  return object;
}

json summaries_json(const PairedComparison& comparison) {
  json object = json::object();
  for (const SummaryJudgement& judged : comparison.result.judgement.summaries) {
    object[to_text(judged.summary)] = judged_json(judged, comparison.rule);
  }
  return object;
}

json pair_json(const MeasuredPair& pair) {
  json object{{"time", pair.time},
              {"first", pair.a_first ? "a" : "b"},
              {"whole_launches", pair.whole_launches},
              {"turns", pair.turns},
              {"duration_s", pair.conditions.duration_s},
              {"others_cpu_ratio", finite_or_null(pair.conditions.others_cpu_ratio)},
              {"steal_ratio", finite_or_null(pair.conditions.steal_ratio)},
              {"disturbed", text_or_null(pair.disturbed)}};
  for (const Summary summary : kSummaries) {
    const auto at = static_cast<size_t>(summary);
    object[to_text(summary)] = {
        {"log_ratio", pair.ratios.of(summary)}, {"a_s", pair.a_s[at]}, {"b_s", pair.b_s[at]}};
  }
  return object;
}

json pairs_json(const std::vector<MeasuredPair>& pairs) {
  json list = json::array();
  for (const MeasuredPair& pair : pairs) list.push_back(pair_json(pair));
  return list;
}

json loader_json(const std::optional<LoaderQueue>& loader) {
  if (!loader) return nullptr;
  return {{"a", {{"wait_ratio", loader->wait_ratio_a}, {"queue_depth", loader->depth_a}}},
          {"b", {{"wait_ratio", loader->wait_ratio_b}, {"queue_depth", loader->depth_b}}}};
}

json comparison_object(const PairedComparison& comparison) {
  const PairedResult& result = comparison.result;
  json object = judgement_json(result.judgement);
  object.update({{"schema", "flopmark.paired/1"},
                 {"name", result.name},
                 {"verdict", to_text(comparison.verdict)},
                 {"reason", comparison.reason},
                 {"end", to_text(result.end)},
                 {"alpha", comparison.rule.alpha},
                 {"looks", comparison.rule.looks},
                 {"mid_ratio", finite_or_null(comparison.rule.mid_ratio)},
                 {"seed", comparison.seed},
                 {"a", paired_side_json(comparison.a)},
                 {"b", paired_side_json(comparison.b)},
                 {"environment_differences", differences_json(comparison.environment_differences)},
                 {"summaries", summaries_json(comparison)},
                 {"metrics", metrics_json(comparison.metrics)},
                 {"deterministic", metrics_json(comparison.deterministic)},
                 {"phases", phases_json(comparison.phases)},
                 {"operators", operators_json(comparison.operators)},
                 {"data_bound", loader_json(comparison.loader)},
                 {"pairs", pairs_json(result.pairs)},
                 {"repeated", result.repeated},
                 {"failure", failure_json(result.failure)},
                 {"notes", comparison.notes}});
  return object;
}

/// As exit codes weigh them: slower, not comparable, unsure, then what is good.
Verdict worst_verdict(const std::vector<PairedComparison>& comparisons) {
  for (const Verdict verdict :
       {Verdict::slower, Verdict::not_comparable, Verdict::unsure, Verdict::same, Verdict::faster}) {
    for (const PairedComparison& comparison : comparisons) {
      if (comparison.verdict == verdict) return verdict;
    }
  }
  return Verdict::unsure;
}

}  // namespace

std::string paired_json(const std::vector<PairedComparison>& comparisons) {
  json whole;
  if (comparisons.size() == 1) {
    whole = comparison_object(comparisons.front());
  } else {
    whole = {{"schema", "flopmark.paired_suite/1"},
             {"verdict", to_text(worst_verdict(comparisons))},
             {"comparisons", json::array()}};
    for (const PairedComparison& comparison : comparisons) {
      whole["comparisons"].push_back(comparison_object(comparison));
    }
  }
  return whole.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace flopmark
