#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "compare/paired_changes.h"
#include "compare/paired_session.h"

namespace flopmark {

/// What every report of pairs says alike.
/// change_ratio, ci95_low, ci95_high (of throughput), smallest_effect_ratio, decided_by, cause, pairs_judged,
/// pairs_needed; null for what there is not.
nlohmann::json judgement_json(const PairedJudgement& judgement);
/// By name: a_s, b_s, change_s with its interval, step_share_ratio, changed.
nlohmann::json phases_json(const std::vector<PhaseChange>& phases);
/// operator, calls_a, calls_b, hardware_flop_a, hardware_flop_b.
nlohmann::json operators_json(const std::vector<OperatorChange>& operators);
/// side, pair, kind, phase, text; or null.
nlohmann::json failure_json(const std::optional<SideFailure>& failed);

}  // namespace flopmark
