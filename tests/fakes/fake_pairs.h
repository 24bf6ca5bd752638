#pragma once

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "compare/pair_source.h"
#include "fakes/fake_samples.h"
#include "stats/random.h"

namespace flopmark {

/// Launches that took turns of 2 of their 20 steps; every step takes `step_s`, but for every tenth, which
/// takes `stall_s` more.
inline LaunchOutcome turned_launch(double step_s, double stall_s = 0) {
  LaunchOutcome outcome;
  outcome.status = LaunchOutcome::Status::ok;
  LaunchSamples samples = fake_samples({.steps = 20, .sequence_length = 32, .step_s = step_s}, 20);
  for (size_t i = 0; i < samples.timed.step_s.size(); i += 10) samples.timed.step_s[i] += stall_s;
  for (int i = 0; i < 10; ++i) samples.turns.push_back({2, 2 * step_s, 4});
  outcome.samples = std::move(samples);
  return outcome;
}

inline LaunchOutcome failed_launch(const std::string& kind, const std::string& text) {
  LaunchOutcome outcome;
  outcome.status = LaunchOutcome::Status::failed;
  outcome.failure = Failure{kind, "timed", 7, text};
  return outcome;
}

/// What the other one of a pair looks like: stopped because its fellow failed, or by a signal.
inline LaunchOutcome stopped_launch(int signal = 0) {
  LaunchOutcome outcome;
  outcome.status = LaunchOutcome::Status::interrupted;
  outcome.signal = signal;
  return outcome;
}

/// Pairs of a test's own making, on a clock of its own: each takes 10 s.
class FakePairs : public PairSource {
 public:
  /// Pair `index` (from 0, over all workloads and repeats) of a request.
  using Make = std::function<LaunchPair(const PairRequest&, size_t index)>;
  explicit FakePairs(Make make) : make_(std::move(make)) {}

  LaunchPair measure(const PairRequest& request) override {
    requests.push_back(request);
    now_s += 10;
    LaunchPair pair = make_(request, requests.size() - 1);
    pair.conditions.duration_s = 10;
    pair.time = "2026-01-02T03:04:05.678Z";
    return pair;
  }

  std::vector<PairRequest> requests;
  double now_s = 0;

 private:
  Make make_;
};

/// b takes 1 + `change` times as long as a, 0.2 s a step, to and fro by `spread` from pair to pair.
inline FakePairs::Make changed_by(double change, double spread = 0.001) {
  return [=](const PairRequest&, size_t index) {
    const double noise = std::exp((index % 2 == 0 ? 1 : -1) * spread);
    return LaunchPair{turned_launch(0.2), turned_launch(0.2 * (1 + change) * noise), {}};
  };
}

/// b takes about 1 + `change` times as long as a, with normal noise of `sd` from pair to pair.
inline FakePairs::Make noisy(double change, double sd) {
  return [=](const PairRequest&, size_t index) {
    const double noise = std::exp(sd * Random(index + 1).normal());
    return LaunchPair{turned_launch(0.2), turned_launch(0.2 * (1 + change) * noise), {}};
  };
}

}  // namespace flopmark
