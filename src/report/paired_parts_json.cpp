#include "report/paired_parts_json.h"

#include "report/comparison_parts_json.h"

namespace flopmark {

using nlohmann::json;

json judgement_json(const PairedJudgement& judgement) {
  const SummaryJudgement* throughput = judgement.summaries.empty() ? nullptr : &judgement.summaries.front();
  const auto of_throughput = [&](std::optional<double> SummaryJudgement::*field) {
    return throughput ? finite_or_null(throughput->*field) : json(nullptr);
  };
  return {{"change_ratio", throughput ? json(throughput->change_ratio) : json(nullptr)},
          {"ci95_low", of_throughput(&SummaryJudgement::ci95_low_ratio)},
          {"ci95_high", of_throughput(&SummaryJudgement::ci95_high_ratio)},
          {"smallest_effect_ratio",
           judgement.summaries.empty() ? json(nullptr) : finite_or_null(judgement.smallest_effect_ratio)},
          {"decided_by", judgement.decided_by ? json(to_text(*judgement.decided_by)) : json(nullptr)},
          {"cause", judgement.cause ? json(to_text(*judgement.cause)) : json(nullptr)},
          {"pairs_judged", judgement.pairs},
          {"pairs_needed", finite_or_null(judgement.pairs_needed)}};
}

json phases_json(const std::vector<PhaseChange>& phases) {
  json object = json::object();
  for (const PhaseChange& phase : phases) {
    object[phase.name] = {{"a_s", phase.a_s},
                          {"b_s", phase.b_s},
                          {"change_s", phase.change_s},
                          {"ci95_low_s", finite_or_null(phase.ci95_low_s)},
                          {"ci95_high_s", finite_or_null(phase.ci95_high_s)},
                          {"step_share_ratio", phase.step_share_ratio},
                          {"changed", phase.changed}};
  }
  return object;
}

json operators_json(const std::vector<OperatorChange>& operators) {
  json list = json::array();
  for (const OperatorChange& change : operators) {
    list.push_back({{"operator", change.name},
                    {"calls_a", change.calls_a},
                    {"calls_b", change.calls_b},
                    {"hardware_flop_a", change.hardware_flop_a},
                    {"hardware_flop_b", change.hardware_flop_b}});
  }
  return list;
}

json failure_json(const std::optional<SideFailure>& failed) {
  if (!failed) return nullptr;
  return {{"side", failed->side},
          {"pair", failed->pair},
          {"kind", failed->failure.kind},
          {"phase", failed->failure.phase},
          {"text", failed->failure.text}};
}

}  // namespace flopmark
