#include "measure/joined_block.h"

#include <algorithm>

namespace flopmark {
namespace {

/// When the slowest rank has ended each step, since the begin of the block.
std::vector<double> ends_of(const std::vector<RankSamples>& ranks, size_t steps) {
  std::vector<double> ends(steps, 0.0);
  for (const RankSamples& rank : ranks) {
    double reached_s = 0;
    for (size_t i = 0; i < steps; ++i) {
      reached_s += rank.step_s.at(i);
      ends[i] = std::max(ends[i], reached_s);
    }
  }
  return ends;
}

/// Makes the phases of step `i`, which took `own_s` here, add up to `step_s`.
void fit_phases(BlockSamples& timed, size_t i, double own_s, double step_s) {
  if (step_s >= own_s) {
    timed.phase_s[static_cast<size_t>(Phase::communication)][i] += step_s - own_s;
    return;
  }
  for (auto& phase : timed.phase_s) phase[i] *= step_s / own_s;
}

}  // namespace

void join_ranks(BlockSamples& timed, const std::vector<RankSamples>& ranks) {
  const size_t steps = timed.step_s.size();
  const std::vector<double> ends = ends_of(ranks, steps);
  timed.phase_s[static_cast<size_t>(Phase::communication)].resize(steps, 0.0);
  for (size_t i = 0; i < steps; ++i) {
    const double step_s = ends[i] - (i == 0 ? 0.0 : ends[i - 1]);
    fit_phases(timed, i, timed.step_s[i], step_s);
    timed.step_s[i] = step_s;
  }
  timed.samples = timed.tokens = timed.images = 0;
  for (const RankSamples& rank : ranks) {
    timed.samples += rank.samples;
    timed.tokens += rank.tokens;
    timed.images += rank.images;
  }
}

}  // namespace flopmark
