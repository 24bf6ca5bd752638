#include "compare/paired_judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/paired_reason.h"
#include "stats/detection.h"
#include "stats/normal.h"
#include "stats/signed_rank.h"
#include "stats/spread.h"

namespace flopmark {
namespace {

constexpr double kPower = 0.9;
constexpr double kTwoSided95 = 0.025;  // each side
constexpr double kShiftsWith = 0.5;    // a summary moves along if it moves by half as much

std::optional<double> ratio_of(const std::optional<double>& log_ratio) {
  return log_ratio ? std::optional(std::expm1(*log_ratio)) : std::nullopt;
}

const GateTest* test_of(const Decision& decision, Summary summary) {
  for (const GateTest& test : decision.gates) {
    if (test.gate.summary == summary) return &test;
  }
  return nullptr;
}

/// Large enough to be found by the test, and to exceed the tolerance, with 90 %.
double smallest_effect(double sigma, double level, const Gate* gate, const JudgeRule& rule, size_t pairs) {
  const double by_test = detection_factor(pairs, level, kPower) * sigma;
  const double beyond_half = asymptotic_detection_factor(pairs, 0.5, kPower) * sigma;  // z of 0.5 is 0
  const double from = gate && !rule.mid_ratio ? std::log1p(gate->tol_ratio) : 0;
  return std::expm1(std::max(by_test, from + beyond_half));
}

SummaryJudgement summary_judgement(const std::vector<PairRatios>& pairs, Summary summary,
                                   const Decision& decision, const JudgeRule& rule) {
  std::vector<double> values;
  for (size_t i = 0; i < decision.pairs; ++i) values.push_back(pairs[i].of(summary));
  const WalshAverages averages(values);
  const GateTest* test = test_of(decision, summary);
  const double mad = mad_sigma(values);

  SummaryJudgement result;
  result.summary = summary;
  result.gates = test != nullptr;
  result.level = test ? test->level : rule.level_per_look() / static_cast<double>(rule.gates.size());
  result.change_ratio = std::expm1(averages.estimate());
  result.low_ratio = ratio_of(averages.lower_limit(result.level));
  result.high_ratio = ratio_of(averages.upper_limit(result.level));
  result.ci95_low_ratio = ratio_of(averages.lower_limit(kTwoSided95));
  result.ci95_high_ratio = ratio_of(averages.upper_limit(kTwoSided95));
  result.sigma_ratio = mad > 0 ? mad : standard_deviation(values);
  result.smallest_effect_ratio =
      smallest_effect(result.sigma_ratio, result.level, test ? &test->gate : nullptr, rule, decision.pairs);
  return result;
}

/// The gate that made the verdict: the most certain of those that say so.
std::optional<Summary> deciding_summary(const Decision& decision) {
  const GateTest* best = nullptr;
  for (const GateTest& test : decision.gates) {
    const bool says_so = decision.verdict == Verdict::slower ? test.slower : test.faster;
    if (says_so && (!best || (decision.verdict == Verdict::slower && test.p_slower < best->p_slower))) {
      best = &test;
    }
  }
  return best ? std::optional(best->gate.summary) : std::nullopt;
}

/// Change of the median step over the first `used` of the pairs.
double median_step_change(const std::vector<PairRatios>& pairs, size_t used) {
  std::vector<double> values;
  for (size_t i = 0; i < used; ++i) values.push_back(pairs[i].median_step.value_or(pairs[i].typical));
  return std::expm1(WalshAverages(values).estimate());
}

Cause cause_of(const std::vector<SummaryJudgement>& summaries, double median_step) {
  const auto change = [&](Summary summary) { return summaries[static_cast<size_t>(summary)].change_ratio; };
  const double moved = std::max(change(Summary::throughput), median_step);
  if (change(Summary::floor) >= kShiftsWith * moved) return Cause::compute_path;
  return median_step >= kShiftsWith * change(Summary::throughput) ? Cause::variance : Cause::stall;
}

/// Pairs after which the gate is slower, if estimate and spread stay; absent if it never is.
std::optional<double> pairs_for_slower(const GateTest& test, double sigma, const JudgeRule& rule) {
  const double above = test.estimate - std::log1p(rule.mid_ratio.value_or(0));
  const bool reaches = rule.mid_ratio || test.estimate >= std::log1p(test.gate.tol_ratio);
  if (above <= 0 || !reaches) return std::nullopt;
  return pairs_to_detect(above, sigma, test.level, kPower);
}

/// Likewise for not slower.
std::optional<double> pairs_for_same(const GateTest& test, double sigma, const JudgeRule& rule) {
  const double below = std::log1p(rule.mid_ratio.value_or(test.gate.good_bound_ratio())) - test.estimate;
  if (below <= 0) return std::nullopt;
  return pairs_to_detect(below, sigma, test.level, kPower);
}

/// Pairs that settle the question if estimates and spread stay: by one gate for slower, by all for same.
std::optional<double> pairs_needed(const Decision& decision, const std::vector<SummaryJudgement>& summaries,
                                   const JudgeRule& rule) {
  std::optional<double> slower, same = 0;
  for (const GateTest& test : decision.gates) {
    const double sigma = summaries[static_cast<size_t>(test.gate.summary)].sigma_ratio;
    const auto for_slower = pairs_for_slower(test, sigma, rule), for_same = pairs_for_same(test, sigma, rule);
    if (for_slower) slower = std::min(slower.value_or(*for_slower), *for_slower);
    same = same && for_same ? std::optional(std::max(*same, *for_same)) : std::nullopt;
  }
  if (!slower && !same) return std::nullopt;
  const double needed = slower && same ? std::min(*slower, *same) : slower ? *slower : *same;
  return std::max({needed, static_cast<double>(decision.pairs + 1), static_cast<double>(rule.looks.front())});
}

PairedJudgement described(const std::vector<PairRatios>& pairs, const Decision& decision,
                          const JudgeRule& rule) {
  PairedJudgement judgement;
  judgement.verdict = decision.verdict;
  judgement.pairs = decision.pairs;
  for (const Summary summary : kSummaries) {
    judgement.summaries.push_back(summary_judgement(pairs, summary, decision, rule));
  }
  judgement.smallest_effect_ratio = std::numeric_limits<double>::infinity();
  for (const SummaryJudgement& summary : judgement.summaries) {
    if (!summary.gates) continue;
    judgement.smallest_effect_ratio =
        std::min(judgement.smallest_effect_ratio, summary.smallest_effect_ratio);
  }
  if (decision.verdict == Verdict::unsure) {
    judgement.may_go_on = decision.pairs < rule.looks.back();
    judgement.pairs_needed = pairs_needed(decision, judgement.summaries, rule);
  } else if (decision.verdict != Verdict::same) {
    judgement.decided_by = deciding_summary(decision);
  }
  if (decision.verdict == Verdict::slower) {
    judgement.cause = cause_of(judgement.summaries, median_step_change(pairs, decision.pairs));
  }
  judgement.reason = paired_reason(judgement, rule);
  return judgement;
}

}  // namespace

const char* to_text(Cause cause) {
  switch (cause) {
    case Cause::compute_path:
      return "compute path";
    case Cause::stall:
      return "stall or data path";
    case Cause::variance:
      return "variance";
    case Cause::data_path:
      return "data path";
  }
  return "compute path";
}

PairedJudgement judge_pairs(const std::vector<PairRatios>& pairs, const JudgeRule& rule) {
  return described(pairs, decide_pairs(pairs, rule), rule);
}

std::vector<PairedJudgement> judge_suite(const std::vector<std::vector<PairRatios>>& workloads,
                                         const std::vector<JudgeRule>& rules) {
  const std::vector<Decision> decisions = decide_suite(workloads, rules);
  std::vector<PairedJudgement> judgements(workloads.size());
  for (size_t i = 0; i < workloads.size(); ++i) {
    judgements[i].reason = "no pair was measured";
    if (workloads[i].empty()) continue;
    JudgeRule shared = rules[i];
    shared.alpha = decisions[i].alpha;
    judgements[i] = described(workloads[i], decisions[i], shared);
  }
  return judgements;
}

}  // namespace flopmark
