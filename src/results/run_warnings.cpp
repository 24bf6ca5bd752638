#include "results/run_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "flopmark/counted.h"
#include "measure/warmup_detector.h"

namespace flopmark {
namespace {

constexpr int64_t kFewSteps = 30;   // compare.md M4: the least a launch should have
constexpr size_t kFewLaunches = 5;  // fewer say little about how much launches differ
constexpr double kWallTolerance = 0.01;
constexpr double kPhaseTolerance = 0.02;
constexpr size_t kDriftPart = 8;  // steps on each side of a shift, as in the warm-up detector
constexpr size_t kConstantLosses = 10;
constexpr size_t kNamedOperators = 5;

using Launches = std::vector<LaunchSamples>;
using Found = std::optional<Warning>;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double percent(double ratio) {
  return 100.0 * ratio;
}

/// "launch 2", "launches 1, 3 and 4" of those that `is_meant`; empty for none.
std::string launches_where(const Launches& launches,
                           const std::function<bool(const LaunchSamples&)>& is_meant) {
  std::vector<size_t> numbers;
  for (size_t i = 0; i < launches.size(); ++i) {
    if (is_meant(launches[i])) numbers.push_back(i + 1);
  }
  if (numbers.empty()) return {};
  if (numbers.size() == 1) return fmt::format("launch {}", numbers[0]);
  return fmt::format("launches {} and {}", fmt::join(numbers.begin(), numbers.end() - 1, ", "),
                     numbers.back());
}

Found not_steady(const Launches& launches) {
  const auto is_unsteady = [](const LaunchSamples& launch) { return !launch.warmup.steady; };
  const std::string which = launches_where(launches, is_unsteady);
  if (which.empty()) return std::nullopt;
  const auto& first = *std::find_if(launches.begin(), launches.end(), is_unsteady);
  return Warning{
      "not_steady",
      fmt::format("warm-up of {} ended before the step time was steady ({}): raise measure.warmup_max_steps",
                  which, first.warmup.reason)};
}

/// At one place of the launch, or between its first quarter and its last.
LevelShift drift_of(const LaunchSamples& launch) {
  const LevelShift at_once = largest_level_shift(launch.timed.step_s, kDriftPart);
  return at_once.beyond() ? at_once : quarter_shift(launch.timed.step_s, kDriftPart);
}

Found drift(const Launches& launches) {
  const auto drifts = [](const LaunchSamples& launch) { return drift_of(launch).beyond(); };
  const std::string which = launches_where(launches, drifts);
  if (which.empty()) return std::nullopt;
  double largest = 0;
  for (const auto& launch : launches) {
    const LevelShift shift = drift_of(launch);
    if (shift.beyond() && std::abs(shift.shift_ratio) > std::abs(largest)) largest = shift.shift_ratio;
  }
  return Warning{
      "drift",
      fmt::format(
          "step time moved while it was timed in {} (by up to {:+.1f} %): warm up for longer, and look "
          "for throttling or other load on this machine",
          which, percent(largest))};
}

Found few_steps(const Launches& launches) {
  int64_t fewest = kFewSteps;
  for (const auto& launch : launches) fewest = std::min(fewest, launch.timed.steps);
  if (fewest >= kFewSteps) return std::nullopt;
  return Warning{"few_steps", fmt::format("a launch has only {}: raise measure.steps to {} or more",
                                          counted(fewest, "timed step"), kFewSteps)};
}

Found few_launches(const Launches& launches) {
  if (launches.size() >= kFewLaunches) return std::nullopt;
  return Warning{
      "few_launches",
      fmt::format("only {}: processes differ more than steps do, so the interval means little; raise "
                  "measure.repeats to {} or more",
                  counted(std::ssize(launches), "launch", "launches"), kFewLaunches)};
}

/// The sum of steps over the wall clock, minus 1, of the launch where they differ most.
Found wall_disagrees(const Launches& launches) {
  double worst = 0;
  for (const auto& launch : launches) {
    if (!(launch.timed.wall_s > 0)) continue;
    // Of several ranks both are of the one that ended last.
    const double difference = sum(launch.timed.step_s) / launch.timed.wall_s - 1.0;
    if (std::abs(difference) > std::abs(worst)) worst = difference;
  }
  if (std::abs(worst) <= kWallTolerance) return std::nullopt;
  return Warning{
      "wall_disagrees",
      fmt::format(
          "the timed steps add up to {:+.1f} % of the wall clock's time: some time is not in any step "
          "or is counted twice; do not trust the step times",
          percent(worst))};
}

Found phases_do_not_add_up(const Launches& launches) {
  double worst = 0;
  for (const auto& launch : launches) {
    const double steps_s = sum(launch.timed.step_s);
    if (!(steps_s > 0)) continue;
    double phases_s = 0;
    for (const auto& phase : launch.timed.phase_s) phases_s += sum(phase);
    const double difference = phases_s / steps_s - 1.0;
    if (std::abs(difference) > std::abs(worst)) worst = difference;
  }
  if (std::abs(worst) <= kPhaseTolerance) return std::nullopt;
  return Warning{
      "phases_do_not_add_up",
      fmt::format("the phases differ from the steps they are parts of by {:+.1f} %: read them with care",
                  percent(worst))};
}

Found flops_differ(const Launches& launches) {
  const FlopTotals* first = nullptr;
  for (const auto& launch : launches) {
    if (!launch.flops) continue;
    if (!first) first = &*launch.flops;
    if (launch.flops->model_flop() == first->model_flop() &&
        launch.flops->hardware_flop() == first->hardware_flop()) {
      continue;
    }
    return Warning{
        "flops_differ",
        fmt::format("launches counted different FLOPs for a step ({} and {} model, {} and {} hardware): the "
                    "work depends on the data or on chance, so MFU is that of the counted steps only",
                    first->model_flop(), launch.flops->model_flop(), first->hardware_flop(),
                    launch.flops->hardware_flop())};
  }
  return std::nullopt;
}

Found uncounted_operators(const Launches& launches) {
  for (const auto& launch : launches) {
    if (!launch.flops || launch.flops->uncounted.empty()) continue;
    const auto& uncounted = launch.flops->uncounted;
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min(uncounted.size(), kNamedOperators); ++i)
      names.push_back(uncounted[i].name);
    const size_t more = uncounted.size() - names.size();
    return Warning{"uncounted_operators",
                   fmt::format("no FLOP rule for {}{}: {}", fmt::join(names, ", "),
                               more > 0 ? fmt::format(" and {} more", more) : "",
                               launch.flops->lower_bound ? "FLOPs, MFU and HFU are lower bounds"
                                                         : "their FLOPs are too few to matter")};
  }
  return std::nullopt;
}

/// How the peak came about, where it was not simply looked up.
std::string peak_origin(const Peak& peak) {
  const std::string again = peak.source == "measured"
                                ? "; other work may have run then: measure again with flopmark peak --measure"
                                : "";
  return peak.derivation ? ": " + *peak.derivation + again : "";
}

Found loss_constant(const Launches& launches) {
  const auto is_constant = [](const LaunchSamples& launch) {
    const auto& losses = launch.timed.losses;
    return losses.size() >= kConstantLosses &&
           std::all_of(losses.begin(), losses.end(), [&](double loss) { return loss == losses[0]; });
  };
  const std::string which = launches_where(launches, is_constant);
  if (which.empty()) return std::nullopt;
  return Warning{
      "loss_constant",
      fmt::format(
          "the loss is the very same in every timed step of {}: check that the model learns (learning "
          "rate, frozen parameters, a loss that does not depend on them)",
          which)};
}

Found steps_skipped(const Launches& launches) {
  int64_t skipped = 0, steps = 0;
  for (const auto& launch : launches) {
    skipped += launch.timed.skipped_steps.value_or(0);
    steps += launch.timed.steps;
  }
  if (skipped == 0) return std::nullopt;
  return Warning{
      "steps_skipped",
      fmt::format("{} of {} left the parameters as they were, because a gradient overflowed in fp16: their "
                  "times lack the optimizer's work; warm up until the loss scale has settled (raise "
                  "measure.warmup_min_steps), or use bf16-mixed",
                  skipped, counted(steps, "timed step"))};
}

}  // namespace

std::vector<Warning> launch_warnings(const Launches& launches) {
  std::vector<Warning> warnings;
  for (const auto find : {not_steady, drift, few_steps, few_launches, wall_disagrees, phases_do_not_add_up,
                          flops_differ, uncounted_operators, loss_constant, steps_skipped}) {
    if (auto found = find(launches)) warnings.push_back(std::move(*found));
  }
  return warnings;
}

std::vector<Warning> subject_warnings(const Subject& subject) {
  const std::string reason = subject.reason.value_or("unknown");
  if (!subject.commit) {
    return {{"no_commit",
             fmt::format("no commit to name this result by ({}): it cannot become a baseline", reason)}};
  }
  if (!subject.dirty) {
    return {{"dirty_unknown", fmt::format("Git cannot tell whether the tree has changes ({})", reason)}};
  }
  if (*subject.dirty) {
    return {{"dirty_tree",
             "the tree has changes that are not committed, so the commit does not say what was measured: "
             "commit or stash them"}};
  }
  return {};
}

Found believability_warning(const RunRecord& record) {
  const auto value_of = [&](const char* key) {
    const auto found = record.metrics.values.find(key);
    return found == record.metrics.values.end() ? 0.0 : found->second.value_or(0.0);
  };
  const double mfu = value_of("mfu_ratio"), hfu = value_of("hfu_ratio");
  if (mfu <= 1.0 && hfu <= 1.0) return std::nullopt;
  const FlopTotals flops = record.flops.value_or(FlopTotals{});
  const double step_s = record.metrics.step_s ? record.metrics.step_s->mean : 0.0;
  return Warning{
      "not_believable",
      fmt::format("MFU {:.1f} % and HFU {:.1f} %: no device does more than its peak, so an input is wrong. "
                  "Used: {} model and {} hardware FLOP per step and rank, {:.6g} s per step (mean), {}, peak "
                  "{:.6g} FLOP/s per device ({}, dense, source {}{}{}). Likely causes: a peak given by hand "
                  "that is too low or in other units; a peak of another precision than the matmuls ran in; a "
                  "model that skips work in some steps; steps timed without waiting for the device",
                  percent(mfu), percent(hfu), flops.model_flop(), flops.hardware_flop(), step_s,
                  counted(record.environment.device_count, "device"), record.peak.flop_per_s.value_or(0.0),
                  record.peak.precision, record.peak.source,
                  record.peak.device ? ", " + *record.peak.device : "", peak_origin(record.peak))};
}

}  // namespace flopmark
