#include "compare/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/multiplicity.h"
#include "stats/signed_rank.h"

namespace flopmark {
namespace {

constexpr double kLeastGoodBound = 0.03;
constexpr double kGoodBoundTolerances = 1.5;

std::vector<double> column(const std::vector<PairRatios>& pairs, Summary summary) {
  std::vector<double> values;
  values.reserve(pairs.size());
  for (const PairRatios& pair : pairs) {
    values.push_back(pair.of(summary));
    if (std::isfinite(values.back())) continue;
    throw judge_error(fmt::format("pair {}: the {} ratio is not a number: a launch has no usable step times",
                                  values.size(), to_text(summary)));
  }
  return values;
}

GateTest tested(const Gate& gate, const WalshAverages& averages, double level, const JudgeRule& rule) {
  const double reference = std::log1p(rule.mid_ratio.value_or(0));
  const double bound = rule.mid_ratio ? reference : std::log1p(gate.good_bound_ratio());
  GateTest test;
  test.gate = gate;
  test.level = level;
  test.estimate = averages.estimate();
  test.low = averages.lower_limit(level);
  test.high = averages.upper_limit(level);
  test.p_slower = averages.p_above(reference);
  const bool tolerated = !rule.mid_ratio && test.estimate < std::log1p(gate.tol_ratio);
  test.slower = test.low && *test.low > reference && !tolerated;
  test.not_slower = test.high && *test.high < bound;
  test.faster = test.high && *test.high < 0;
  return test;
}

Verdict verdict_of(const std::vector<GateTest>& gates, const JudgeRule& rule) {
  if (std::any_of(gates.begin(), gates.end(), [](const GateTest& test) { return test.slower; })) {
    return Verdict::slower;
  }
  const bool all_good =
      std::all_of(gates.begin(), gates.end(), [](const GateTest& test) { return test.not_slower; });
  const auto first = std::find_if(gates.begin(), gates.end(), [&](const GateTest& test) {
    return rule.mid_ratio || test.gate.summary != Summary::floor;
  });
  if (!all_good || first == gates.end()) return Verdict::unsure;
  return first->faster ? Verdict::faster : Verdict::same;
}

}  // namespace

double PairRatios::of(Summary summary) const {
  switch (summary) {
    case Summary::throughput:
      return throughput;
    case Summary::typical:
      return typical;
    case Summary::floor:
      return floor;
  }
  return throughput;
}

double Gate::good_bound_ratio() const {
  return std::max(kLeastGoodBound, kGoodBoundTolerances * tol_ratio);
}

double JudgeRule::level_per_look() const {
  return mid_ratio ? mid_level : alpha / static_cast<double>(looks.size());
}

Decision decide_look(const std::vector<PairRatios>& pairs, const JudgeRule& rule) {
  const double reference = std::log1p(rule.mid_ratio.value_or(0));
  std::vector<WalshAverages> averages;
  std::vector<double> p_values;
  for (const Gate& gate : rule.gates) {
    averages.emplace_back(column(pairs, gate.summary));
    p_values.push_back(averages.back().p_above(reference));
  }
  const std::vector<double> levels = holm_levels(p_values, rule.level_per_look());
  Decision decision;
  decision.pairs = pairs.size();
  decision.alpha = rule.alpha;
  for (size_t i = 0; i < rule.gates.size(); ++i) {
    decision.gates.push_back(tested(rule.gates[i], averages[i], levels[i], rule));
  }
  decision.verdict = verdict_of(decision.gates, rule);
  return decision;
}

Decision decide_pairs(const std::vector<PairRatios>& pairs, const JudgeRule& rule) {
  if (pairs.size() < rule.looks.front()) {
    Decision decision = decide_look(pairs, rule);
    decision.verdict = Verdict::unsure;
    return decision;
  }
  Decision decision;
  for (const size_t look : rule.looks) {
    if (look > pairs.size()) break;
    decision = decide_look({pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(look)}, rule);
    if (decision.verdict != Verdict::unsure) break;
  }
  return decision;
}

std::vector<Decision> decide_suite(const std::vector<std::vector<PairRatios>>& workloads,
                                   const JudgeRule& rule, double suite_alpha) {
  return decide_suite(workloads, std::vector<JudgeRule>(workloads.size(), rule), suite_alpha);
}

std::vector<Decision> decide_suite(const std::vector<std::vector<PairRatios>>& workloads,
                                   const std::vector<JudgeRule>& rules, double suite_alpha) {
  std::vector<Decision> decisions(workloads.size());
  std::vector<bool> is_slower(workloads.size(), false);
  // Sequentially rejective: whoever is slower at this level leaves the family, and the rest is judged again.
  for (size_t left = workloads.size(), before = left + 1; left > 0 && left < before;) {
    before = left;
    const double shared_alpha = suite_alpha / static_cast<double>(before);
    for (size_t i = 0; i < workloads.size(); ++i) {
      if (is_slower[i] || workloads[i].empty()) continue;
      JudgeRule shared = rules.at(i);
      shared.alpha = std::min(shared.alpha, shared_alpha);
      decisions[i] = decide_pairs(workloads[i], shared);
      is_slower[i] = decisions[i].verdict == Verdict::slower;
      left -= is_slower[i] ? 1 : 0;
    }
  }
  return decisions;
}

std::vector<size_t> looks_up_to(size_t most) {
  std::vector<size_t> looks = JudgeRule{}.looks;
  std::erase_if(looks, [&](size_t look) { return look >= most; });
  looks.push_back(most);
  return looks;
}

size_t least_decisive_pairs(const JudgeRule& rule, size_t workloads, double suite_alpha) {
  JudgeRule shared = rule;
  shared.alpha = std::min(rule.alpha, suite_alpha / static_cast<double>(workloads));
  const double level = shared.level_per_look() / static_cast<double>(rule.gates.size());
  return static_cast<size_t>(std::ceil(-std::log2(level)));
}

}  // namespace flopmark
