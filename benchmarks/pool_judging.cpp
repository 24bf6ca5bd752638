#include "pool_judging.h"

#include <algorithm>
#include <iterator>

#include "stats/multiplicity.h"
#include "stats/random.h"

namespace flopmark::benchmarks {
namespace {

constexpr size_t kRivalLaunches = 10;
constexpr double kBoundLevel = 0.05;

template <typename SignOf>
VerdictCounts judge_drawn(const std::vector<PairRatios>& pairs, const JudgeRule& rule, size_t trials,
                          uint64_t seed, const SignOf& sign_of) {
  VerdictCounts counts;
  if (pairs.empty()) return counts;
  Random random(seed);
  for (size_t trial = 0; trial < trials; ++trial) {
    std::vector<PairRatios> drawn;
    for (size_t i = 0; i < rule.looks.back(); ++i) {
      const PairRatios& pair = pairs[random.index(pairs.size())];
      const double sign = sign_of(random);
      drawn.push_back({sign * pair.throughput, sign * pair.typical, sign * pair.floor});
    }
    counts.add(decide_pairs(drawn, rule));
  }
  return counts;
}

std::vector<double> seconds(const std::vector<int64_t>& times_us) {
  std::vector<double> times_s;
  for (const int64_t time_us : times_us) times_s.push_back(static_cast<double>(time_us) * 1e-6);
  return times_s;
}

/// Of every `stride` pairs, side a of the first ten and side b of the last ten.
RivalCounts count_rival(const testing::Rival& rival, const std::vector<PoolRow>& rows, size_t stride,
                        uint64_t seed) {
  RivalCounts counts;
  Random random(seed);
  for (size_t begin = 0; begin + stride <= rows.size(); begin += stride) {
    testing::Launches old_s, new_s;
    for (size_t i = 0; i < kRivalLaunches; ++i) {
      old_s.push_back(seconds(rows[begin + i].a_us));
      new_s.push_back(seconds(rows[begin + stride - kRivalLaunches + i].b_us));
    }
    ++counts.trials;
    counts.flagged += rival.flags(old_s, new_s, random) ? 1 : 0;
  }
  return counts;
}

}  // namespace

void VerdictCounts::add(const Decision& decision) {
  ++trials;
  slower += decision.verdict == Verdict::slower ? 1 : 0;
  same += decision.verdict == Verdict::same ? 1 : 0;
  faster += decision.verdict == Verdict::faster ? 1 : 0;
  unsure += decision.verdict == Verdict::unsure ? 1 : 0;
  for (const GateTest& test : decision.gates) {
    floor_not_slower += test.gate.summary == Summary::floor && test.not_slower ? 1 : 0;
  }
}

double VerdictCounts::slower_bound() const {
  return trials == 0 ? 1 : binomial_upper_bound(slower, trials, kBoundLevel);
}

JudgeRule rule_up_to(const JudgeRule& rule, size_t most) {
  JudgeRule capped = rule;
  capped.looks = looks_up_to(most);
  return capped;
}

VerdictCounts judge_windows(const std::vector<PairRatios>& pairs, const JudgeRule& rule, size_t size) {
  const JudgeRule capped = rule_up_to(rule, size);
  VerdictCounts counts;
  for (auto at = pairs.begin(); pairs.end() - at >= static_cast<std::ptrdiff_t>(size);) {
    const auto end = at + static_cast<std::ptrdiff_t>(size);
    counts.add(decide_pairs({at, end}, capped));
    at = end;
  }
  return counts;
}

VerdictCounts judge_resamples(const std::vector<PairRatios>& pairs, const JudgeRule& rule, size_t trials,
                              uint64_t seed) {
  return judge_drawn(pairs, rule, trials, seed, [](Random&) { return 1.0; });
}

VerdictCounts judge_signed_resamples(const std::vector<PairRatios>& pairs, const JudgeRule& rule,
                                     size_t trials, uint64_t seed) {
  return judge_drawn(pairs, rule, trials, seed, [](Random& random) { return random.sign(); });
}

std::vector<PairRatios> exchanged(std::vector<PairRatios> pairs) {
  for (PairRatios& pair : pairs) pair = {-pair.throughput, -pair.typical, -pair.floor};
  return pairs;
}

std::vector<PairRatios> ratios_of(const std::vector<PoolRow>& rows) {
  std::vector<PairRatios> ratios;
  for (const PoolRow& row : rows) ratios.push_back(row.ratios);
  return ratios;
}

RivalCounts rival_one_after_other(const testing::Rival& rival, const std::vector<PoolRow>& rows,
                                  uint64_t seed) {
  return count_rival(rival, rows, 2 * kRivalLaunches, seed);
}

RivalCounts rival_side_by_side(const testing::Rival& rival, const std::vector<PoolRow>& rows, uint64_t seed) {
  return count_rival(rival, rows, kRivalLaunches, seed);
}

}  // namespace flopmark::benchmarks
