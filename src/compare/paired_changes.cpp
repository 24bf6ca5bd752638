#include "compare/paired_changes.h"

#include <array>
#include <cmath>
#include <map>

#include "metrics/metrics.h"
#include "stats/quantile.h"
#include "stats/signed_rank.h"

namespace flopmark {
namespace {

constexpr double kPhaseSide95 = 0.025;
constexpr double kLeastWait = 0.05;    // of the step
constexpr double kMostReady = 1;       // batches: one may become ready in the middle of the last step
constexpr double kLeastShare = 0.005;  // of the step: less does not explain a slowdown that can be judged

struct NamedPhase {
  const char* name;
  double Phases::*field;
};
constexpr std::array kPhases{NamedPhase{"data", &Phases::data_s},
                             NamedPhase{"transfer", &Phases::transfer_s},
                             NamedPhase{"forward", &Phases::forward_s},
                             NamedPhase{"backward", &Phases::backward_s},
                             NamedPhase{"communication", &Phases::communication_exposed_s},
                             NamedPhase{"optimizer", &Phases::optimizer_s},
                             NamedPhase{"other", &Phases::other_s}};

std::vector<double> column(const std::vector<Phases>& launches, double Phases::*field) {
  std::vector<double> values;
  for (const Phases& phases : launches) values.push_back(phases.*field);
  return values;
}

std::vector<Phases> phases_of(const std::vector<LaunchSamples>& launches) {
  std::vector<Phases> phases;
  for (const LaunchSamples& launch : launches) phases.push_back(compute_phases({launch}));
  return phases;
}

double median_step_s(const std::vector<LaunchSamples>& launches) {
  std::vector<double> means_s;
  for (const LaunchSamples& launch : launches) means_s.push_back(mean(launch.timed.step_s));
  return median(means_s);
}

PhaseChange phase_change(const char* name, const std::vector<double>& a_s, const std::vector<double>& b_s,
                         double step_s) {
  std::vector<double> differences;
  for (size_t i = 0; i < a_s.size(); ++i) differences.push_back(b_s[i] - a_s[i]);
  const WalshAverages averages(differences);
  PhaseChange change;
  change.name = name;
  change.a_s = median(a_s);
  change.b_s = median(b_s);
  change.change_s = averages.estimate();
  change.ci95_low_s = averages.lower_limit(kPhaseSide95);
  change.ci95_high_s = averages.upper_limit(kPhaseSide95);
  change.step_share_ratio = step_s > 0 ? change.change_s / step_s : 0;
  const bool leaves_0_out = change.ci95_low_s.value_or(0) > 0 || change.ci95_high_s.value_or(0) < 0;
  change.changed = leaves_0_out && std::abs(change.step_share_ratio) >= kLeastShare;
  return change;
}

void add_operators(const FlopTotals& totals, int64_t OperatorChange::*calls, int64_t OperatorChange::*flop,
                   std::map<std::string, OperatorChange>& operators) {
  for (const OperatorFlops& entry : totals.by_operator) {
    operators[entry.name].*calls += entry.calls;
    operators[entry.name].*flop += entry.hardware_flop;
  }
  for (const UncountedOperator& entry : totals.uncounted) operators[entry.name].*calls += entry.calls;
}

std::vector<double> queue_depths(const std::vector<LaunchSamples>& launches) {
  std::vector<double> depths;
  for (const LaunchSamples& launch : launches) {
    for (const TurnSamples& turn : launch.turns) {
      if (turn.queue_depth) depths.push_back(static_cast<double>(*turn.queue_depth));
    }
  }
  return depths;
}

double wait_ratio(const std::vector<LaunchSamples>& launches) {
  double data_s = 0, steps_s = 0;
  for (const LaunchSamples& launch : launches) {
    for (const double s : launch.timed.phase_s[static_cast<size_t>(Phase::data)]) data_s += s;
    for (const double s : launch.timed.step_s) steps_s += s;
  }
  return steps_s > 0 ? data_s / steps_s : 0;
}

}  // namespace

std::vector<PhaseChange> phase_changes(const std::vector<LaunchSamples>& a,
                                       const std::vector<LaunchSamples>& b) {
  const std::vector<Phases> of_a = phases_of(a), of_b = phases_of(b);
  const double step_s = median_step_s(a);
  std::vector<PhaseChange> changes;
  for (const NamedPhase& phase : kPhases) {
    const PhaseChange change =
        phase_change(phase.name, column(of_a, phase.field), column(of_b, phase.field), step_s);
    if (change.a_s > 0 || change.b_s > 0) changes.push_back(change);
  }
  return changes;
}

std::vector<OperatorChange> operator_changes(const FlopTotals& a, const FlopTotals& b) {
  std::map<std::string, OperatorChange> operators;
  add_operators(a, &OperatorChange::calls_a, &OperatorChange::hardware_flop_a, operators);
  add_operators(b, &OperatorChange::calls_b, &OperatorChange::hardware_flop_b, operators);
  std::vector<OperatorChange> changes;
  for (auto& [name, change] : operators) {
    change.name = name;
    if (change.calls_a != change.calls_b || change.hardware_flop_a != change.hardware_flop_b) {
      changes.push_back(change);
    }
  }
  return changes;
}

std::optional<LoaderQueue> loader_queue(const std::vector<LaunchSamples>& a,
                                        const std::vector<LaunchSamples>& b) {
  const std::vector<double> depths_a = queue_depths(a), depths_b = queue_depths(b);
  if (depths_a.empty() || depths_b.empty()) return std::nullopt;
  const LoaderQueue queue{wait_ratio(a), wait_ratio(b), median(depths_a), median(depths_b)};
  const bool a_waits = queue.wait_ratio_a >= kLeastWait && queue.depth_a <= kMostReady;
  const bool b_waits = queue.wait_ratio_b >= kLeastWait && queue.depth_b <= kMostReady;
  return a_waits || b_waits ? std::optional(queue) : std::nullopt;
}

}  // namespace flopmark
