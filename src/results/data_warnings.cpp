#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "results/run_warnings.h"
#include "stats/quantile.h"

namespace flopmark {
namespace {

constexpr double kDominates = 0.5;
constexpr double kUsualWait = 0.05;  // of a step; what an idle loader's queue costs is far below

constexpr const char* kFasterLoader =
    "raise data.workers and data.prefetch, or prepare the data beforehand, so that loading hides behind the "
    "step";

/// Where the steps' time went, of all launches.
struct DataWait {
  double data_s = 0, steps_s = 0, steps = 0;
  std::vector<double> step_shares;  ///< per step
  double share() const { return steps_s > 0 ? data_s / steps_s : 0; }
};

DataWait data_wait_of(const std::vector<LaunchSamples>& launches) {
  DataWait wait;
  for (const LaunchSamples& launch : launches) {
    const auto& step_s = launch.timed.step_s;
    const auto& data_s = launch.timed.phase_s[static_cast<size_t>(Phase::data)];
    for (size_t i = 0; i < std::min(step_s.size(), data_s.size()); ++i) {
      if (!(step_s[i] > 0)) continue;
      wait.data_s += data_s[i];
      wait.steps_s += step_s[i];
      ++wait.steps;
      wait.step_shares.push_back(data_s[i] / step_s[i]);
    }
  }
  return wait;
}

std::optional<Warning> data_wait(const std::vector<LaunchSamples>& launches) {
  const DataWait wait = data_wait_of(launches);
  if (wait.step_shares.empty()) return std::nullopt;
  if (wait.share() >= kDominates) {
    return Warning{"data_wait_dominates",
                   fmt::format("the step waited for its data for {:.0f} % of its time: what was measured is "
                               "the loader, not the training; {}",
                               100 * wait.share(), kFasterLoader)};
  }
  if (median(wait.step_shares) < kUsualWait) return std::nullopt;
  return Warning{"loader_slow",
                 fmt::format("the loader is slower than the step: a step of {:.3g} ms waits {:.3g} ms of it "
                             "({:.0f} %) for its batch; {}",
                             1e3 * wait.steps_s / wait.steps, 1e3 * wait.data_s / wait.steps,
                             100 * wait.share(), kFasterLoader)};
}

std::optional<Warning> zero_inputs(const std::vector<LaunchSamples>& launches) {
  const bool any = std::any_of(launches.begin(), launches.end(), [](const LaunchSamples& launch) {
    return launch.zero_inputs.value_or(false);
  });
  if (!any) return std::nullopt;
  return Warning{
      "zero_inputs",
      "the batches that were looked at hold nothing but zeros: a device computes on zeros with less "
      "power and at another clock than on data; check data.path and data.inputs"};
}

}  // namespace

std::vector<Warning> data_warnings(const std::vector<LaunchSamples>& launches) {
  std::vector<Warning> warnings;
  for (const auto find : {data_wait, zero_inputs}) {
    if (auto found = find(launches)) warnings.push_back(std::move(*found));
  }
  return warnings;
}

}  // namespace flopmark
