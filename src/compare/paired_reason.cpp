#include "compare/paired_reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flopmark/counted.h"

namespace flopmark {
namespace {

std::string percent_of(double ratio) {
  return fmt::format("{:.{}f} %", ratio * 100, std::abs(ratio) < 0.01 ? 2 : 1);
}

const SummaryJudgement& summary_of(const PairedJudgement& judgement, Summary summary) {
  return judgement.summaries[static_cast<size_t>(summary)];
}

std::string moved_reason(const PairedJudgement& judgement) {
  const bool slower = judgement.verdict == Verdict::slower;
  const SummaryJudgement& summary = summary_of(judgement, judgement.decided_by.value_or(Summary::throughput));
  const double certain = slower ? summary.low_ratio.value_or(0) : -summary.high_ratio.value_or(0);
  std::string text = fmt::format("{} is {} {} (at least {}) after {} pairs", step_time_name(summary.summary),
                                 percent_of(std::abs(summary.change_ratio)), slower ? "longer" : "shorter",
                                 percent_of(certain), judgement.pairs);
  if (judgement.cause) text += fmt::format("; {}", to_text(*judgement.cause));
  return text;
}

std::string same_reason(const PairedJudgement& judgement, const JudgeRule& rule) {
  double bound = 0;
  std::string limits;
  for (const Gate& gate : rule.gates) {
    bound = std::max(bound, rule.mid_ratio.value_or(gate.good_bound_ratio()));
    limits += fmt::format("{}{} at most {}", limits.empty() ? "" : ", ", step_time_name(gate.summary),
                          signed_percent(summary_of(judgement, gate.summary).high_ratio.value_or(0)));
  }
  return fmt::format("not slower by more than {} ({}) after {} pairs", percent_of(bound), limits,
                     judgement.pairs);
}

std::string unsure_reason(const PairedJudgement& judgement, const JudgeRule& rule) {
  if (judgement.pairs < rule.looks.front()) {
    return fmt::format("{} too few: the first look is at {}",
                       counted(static_cast<int64_t>(judgement.pairs), "pair is", "pairs are"),
                       rule.looks.front());
  }
  std::string ranges;
  for (const Gate& gate : rule.gates) {
    const SummaryJudgement& summary = summary_of(judgement, gate.summary);
    const std::string range = summary.low_ratio && summary.high_ratio
                                  ? fmt::format("from {} to {}", signed_percent(*summary.low_ratio),
                                                signed_percent(*summary.high_ratio))
                                  : "anything";
    ranges += fmt::format("{}{} {}", ranges.empty() ? "" : ", ", step_time_name(gate.summary), range);
  }
  std::string text = fmt::format("not settled after {} pairs: {}", judgement.pairs, ranges);
  if (judgement.pairs_needed)
    text += fmt::format("; about {:.0f} pairs would settle it", *judgement.pairs_needed);
  return text;
}

}  // namespace

std::string signed_percent(double ratio) {
  return (ratio < 0 ? "" : "+") + percent_of(ratio);
}

std::string paired_reason(const PairedJudgement& judgement, const JudgeRule& rule) {
  std::string text = judgement.verdict == Verdict::same     ? same_reason(judgement, rule)
                     : judgement.verdict == Verdict::unsure ? unsure_reason(judgement, rule)
                                                            : moved_reason(judgement);
  if (rule.mid_ratio) text += fmt::format(", judged against a change of {}", signed_percent(*rule.mid_ratio));
  const bool uncalibrated =
      std::any_of(rule.gates.begin(), rule.gates.end(), [](const Gate& gate) { return !gate.calibrated; });
  if (uncalibrated && !rule.mid_ratio) text += " (uncalibrated)";
  return text;
}

}  // namespace flopmark
