#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bisect/bisect_world.h"

namespace flopmark {

/// What a journal holds of a build and of a comparison, as JSON. Numbers keep all their digits, so that a
/// bisection that goes on judges as it did; judgements are left out.
nlohmann::json build_json(const std::string& commit, const CommitBuild& build);
nlohmann::json evidence_json(const ComparisonRequest& request, const PairedEvidence& evidence);

/// The same back. @throws std::runtime_error naming a key that is missing or wrong.
CommitBuild parse_build(const nlohmann::json& object);
PairedEvidence parse_evidence(const nlohmann::json& object);

}  // namespace flopmark
