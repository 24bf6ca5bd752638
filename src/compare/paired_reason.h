#pragma once

#include <string>

#include "compare/paired_judge.h"

namespace flopmark {

/// The verdict in one sentence, with the figures it rests on.
std::string paired_reason(const PairedJudgement& judgement, const JudgeRule& rule);

/// "+5.1 %", "-0.03 %": a change with its sign, two decimals below 1 %.
std::string signed_percent(double ratio);

}  // namespace flopmark
