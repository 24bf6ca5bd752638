#include "launch/lock_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>

#include "flopmark/counted.h"
#include "launch/launch_outcome.h"
#include "launch/start_worker.h"
#include "launch/turn_order.h"
#include "launch/worker_watch.h"

namespace flopmark {
namespace {

using Order = ControlLine::Kind;

AddedVariables variables_of(const LockStepSide& side) {
  AddedVariables variables = {
      {"OMP_WAIT_POLICY", "passive"}, {"GOMP_SPINCOUNT", "0"}, {"KMP_BLOCKTIME", "0"}};
  variables.insert(variables.end(), side.environment.begin(), side.environment.end());
  return variables;
}

/// One worker of the pair.
struct Side {
  Side(const LockStepSide& what, const char* name, int64_t steps, SignalWatch& signals, ProgressSink& sink)
      : request(what.request),
        worker(start_worker(what.request, {.file_suffix = std::string("-") + name,
                                           .arguments = {"--turns", std::to_string(steps)},
                                           .variables = variables_of(what)})),
        watch(*worker.process, signals, limits_of(what.request), sink) {}

  bool is_at_fault() { return watch.so_far().failure || watch.so_far().error || watch.is_over(); }
  void let_end() {
    told_to_end = true;
    watch.order({Order::end}, {"count", 0, 0, 0});
  }
  LaunchOutcome outcome() const;
  std::string complaint(const LaunchSamples& samples) const;

  const LaunchRequest& request;
  StartedWorker worker;
  WorkerWatch watch;
  std::optional<WorkerEnd> end;
  std::vector<TurnSamples> turns;
  bool told_to_end = false;
};

/// Why a worker that ended well did not do what the pair needs; empty if it did.
std::string Side::complaint(const LaunchSamples& samples) const {
  if (!told_to_end) {
    return fmt::format("worker ended of its own accord after {}", counted(std::ssize(turns), "turn"));
  }
  const auto same_steps = [](const TurnSamples& one, const TurnSamples& other) {
    return one.steps == other.steps;
  };
  if (std::equal(turns.begin(), turns.end(), samples.turns.begin(), samples.turns.end(), same_steps))
    return "";
  return fmt::format("worker's samples hold {}, not the {} it took",
                     counted(std::ssize(samples.turns), "turn"), std::ssize(turns));
}

LaunchOutcome Side::outcome() const {
  LaunchOutcome outcome = judge_end(*end, request, worker.samples);
  if (outcome.status != LaunchOutcome::Status::ok) return outcome;
  if (const std::string text = complaint(*outcome.samples); !text.empty()) {
    outcome.status = LaunchOutcome::Status::failed;
    outcome.failure = Failure{"error", "save", std::nullopt, text};
  }
  return outcome;
}

/// The story of a pair. Each part returns whether to go on.
class LockStep {
 public:
  LockStep(const LockStepSide& a, const LockStepSide& b, const LockStepOptions& options, ProgressSink& sink)
      : options_(options),
        sink_(sink),
        a_starts_up_first_(draw_turn_order(options.seed, 0).a_starts_up_first) {
    for (const bool is_a : {a_starts_up_first_, !a_starts_up_first_}) {
      side(is_a).emplace(is_a ? a : b, is_a ? "a" : "b", options.steps, signals_, sink);
    }
  }

  LockStepOutcome run() {
    if (greet() && warm_up() && take_turns()) {
      for (auto& side : sides_) side->let_end();
    } else {
      dismiss_the_innocent();
    }
    wait_for_the_end();
    plan_.a = side(true)->outcome();
    plan_.b = side(false)->outcome();
    return plan_;
  }

 private:
  std::optional<Side>& side(bool is_a) { return sides_[is_a ? 0 : 1]; }
  bool in_trouble();
  bool wait_until(const std::function<bool()>& condition);
  bool greet();
  bool warm_up();
  bool take_turns();
  bool take_turn(Side& active, Side& waiting);
  void dismiss_the_innocent();
  void wait_for_the_end();

  const LockStepOptions options_;
  ProgressSink& sink_;
  const bool a_starts_up_first_;
  SignalWatch signals_;
  std::array<std::optional<Side>, 2> sides_;
  LockStepOutcome plan_;
};

bool LockStep::in_trouble() {
  return std::any_of(sides_.begin(), sides_.end(), [](std::optional<Side>& side) {
    return side->is_at_fault() || side->watch.so_far().interrupt != 0;
  });
}

/// False as soon as one of the two ends or fails, the waiting one too, or the user stops them.
bool LockStep::wait_until(const std::function<bool()>& condition) {
  const std::array<WorkerWatch*, 2> watches = {&sides_[0]->watch, &sides_[1]->watch};
  while (!in_trouble()) {
    if (condition()) return true;
    WorkerWatch::wait(watches);
  }
  return false;
}

bool LockStep::greet() {
  const bool greeted =
      wait_until([this] { return sides_[0]->watch.so_far().greeted && sides_[1]->watch.so_far().greeted; });
  for (auto& side : sides_) side->watch.rest();
  return greeted;
}

bool LockStep::warm_up() {
  for (const bool is_a : {a_starts_up_first_, !a_starts_up_first_}) {
    WorkerWatch& watch = side(is_a)->watch;
    watch.order({Order::warmup}, {"load", 0, 0, 0});
    if (!wait_until([&] { return watch.ready().has_value(); })) return false;
    watch.rest();
  }
  return true;
}

bool LockStep::take_turns() {
  plan_.steps_per_turn = steps_per_turn(sides_[0]->watch.ready()->step_s, sides_[1]->watch.ready()->step_s,
                                        options_.least_turn_s);
  const int64_t alternations = (options_.steps + plan_.steps_per_turn - 1) / plan_.steps_per_turn;
  plan_.a_first = draw_turn_order(options_.seed, alternations).a_first;
  for (const bool a_first : plan_.a_first) {
    for (const bool is_a : {a_first, !a_first}) {
      if (!take_turn(*side(is_a), *side(!is_a))) return false;
    }
  }
  return true;
}

bool LockStep::take_turn(Side& active, Side& waiting) {
  const int64_t steps = plan_.steps_per_turn;
  const auto done = static_cast<int64_t>(active.turns.size()) * steps;
  const int64_t planned = std::ssize(plan_.a_first) * steps;
  const int64_t number = std::ssize(active.turns) + std::ssize(waiting.turns) + 1;
  sink_.progress({"turns", number, 2 * std::ssize(plan_.a_first), 0});  // while both wait
  active.watch.order({Order::turn, steps}, {"timed", done + 1, planned, 0});
  std::optional<TurnSamples> turn;
  if (!wait_until([&] { return (turn = active.watch.take_turn()).has_value(); })) return false;
  active.watch.rest();
  active.watch.move_to({"timed", done + steps, planned, 0});
  if (turn->steps != steps) {
    active.watch.fail({"error", "timed", done + steps,
                       fmt::format("worker took {} in a turn of {}", counted(turn->steps, "step"), steps)});
  }
  active.turns.push_back(*turn);
  return !in_trouble();
}

/// Where the user did not stop both.
void LockStep::dismiss_the_innocent() {
  for (auto& side : sides_) {
    if (side->watch.so_far().interrupt == 0 && !side->is_at_fault()) side->watch.dismiss();
  }
}

void LockStep::wait_for_the_end() {
  while (true) {
    std::vector<WorkerWatch*> living;
    for (auto& side : sides_) {
      if (side->end) continue;
      if (side->watch.is_over()) {
        side->end = side->watch.finish();
      } else {
        living.push_back(&side->watch);
      }
    }
    if (living.empty()) return;
    WorkerWatch::wait(living);
  }
}

}  // namespace

LockStepOutcome run_lock_step(const LockStepSide& a, const LockStepSide& b, const LockStepOptions& options,
                              ProgressSink& sink) {
  if (options.steps < 1 || !(options.least_turn_s > 0)) {
    throw std::invalid_argument(
        fmt::format("lock-step needs at least 1 step and a turn's time above 0, not {} "
                    "and {:g} s",
                    options.steps, options.least_turn_s));
  }
  return LockStep(a, b, options, sink).run();
}

}  // namespace flopmark
