#include "compare/step_work.h"

#include <fmt/format.h>

#include <cmath>

namespace flopmark {
namespace {

double per_step(const LaunchSamples& launch, int64_t BlockSamples::*count) {
  const auto steps = static_cast<double>(launch.timed.step_s.size());
  return steps > 0 ? static_cast<double>(launch.timed.*count) / steps : 0;
}

}  // namespace

PairRatios StepWork::per_unit(const PairRatios& of_steps) const {
  const double more = std::log(b / a);
  PairRatios per_unit{of_steps.throughput - more, of_steps.typical - more, of_steps.floor - more};
  if (of_steps.median_step) per_unit.median_step = *of_steps.median_step - more;
  return per_unit;
}

std::optional<StepWork> differing_work(const LaunchSamples& a, const LaunchSamples& b) {
  const bool tokens = a.timed.tokens > 0 && b.timed.tokens > 0;
  const auto count = tokens ? &BlockSamples::tokens : &BlockSamples::samples;
  const StepWork work{tokens ? "tokens" : "samples", per_step(a, count), per_step(b, count)};
  if (work.a <= 0 || work.b <= 0 || work.a == work.b) return std::nullopt;
  return work;
}

std::string step_work_note(const StepWork& work) {
  const std::string unit(work.unit);
  return fmt::format("a step is {:.10g} {} in A, {:.10g} in B: the changes are those of the time per {}",
                     work.a, unit, work.b, unit.substr(0, unit.size() - 1));
}

}  // namespace flopmark
