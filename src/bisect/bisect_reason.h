#pragma once

#include <string>

#include "bisect/bisection.h"

namespace flopmark {

/// "+5.1 % (from +4.2 % to +6.0 %) after 16 pairs".
std::string change_text(const ChangeRange& change, size_t pairs);
/// First ten digits of a hash.
std::string short_hash(const std::string& hash);
/// "the worker of 0230d94c2b failed (crash): ...", of evidence with a failure.
std::string failure_text(const ComparisonRequest& request, const SideFailure& failure);

/// Why the ends do not do, in one sentence: what was seen, and what could be seen.
std::string ends_reason(const PairedJudgement& judgement, const ChangeRange& change, double least_ratio,
                        double traceable_ratio);
/// What a test of a commit said.
std::string verdict_reason(CommitState state, const ChangeRange& change, size_t pairs, double mid_ratio);
/// How the search ended with one or several candidates.
std::string candidates_reason(const CommitRange& range, const BisectionResult& result);
/// How the culprit stands to its parent.
std::string confirmation_reason(const CommitRange& range, const BisectionResult& result, size_t pairs);

}  // namespace flopmark
