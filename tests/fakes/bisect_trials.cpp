#include "fakes/bisect_trials.h"

#include <algorithm>
#include <set>

#include "fakes/step_generator.h"
#include "stats/quantile.h"

namespace flopmark::testing {
namespace {

constexpr double kFixedRatio = 0.07;
constexpr double kSecondStepShare = 1.0 / 3, kImprovementShare = 0.5;

BisectHistory history_of(const TrialSubject& subject, Random& random) {
  HistoryShape shape;
  shape.commits = subject.commits;
  shape.step_ratio = subject.step_ratio;
  shape.second_step = random.uniform() < kSecondStepShare;
  shape.improvement = random.uniform() < kImprovementShare;
  return drawn_history(shape, random);
}

TrialEnd end_of(const BisectionResult& result, const BisectHistory& history) {
  const bool right = names_a_step(result, history);
  switch (result.outcome) {
    case BisectOutcome::confirmed:
      return right ? TrialEnd::right : TrialEnd::wrong;
    case BisectOutcome::range:
      return right ? TrialEnd::range : TrialEnd::wrong;
    case BisectOutcome::unconfirmed:
      return TrialEnd::unconfirmed;
    default:
      return TrialEnd::stopped;
  }
}

/// Artifacts that were measured although their speed was known.
size_t measured_twice(const HistoryWorld& world, const BisectHistory& history) {
  std::set<std::string> known{history.at(history.range.good).artifact,
                              history.at(history.range.bad).artifact};
  size_t again = 0;
  for (const ComparisonRequest& request : world.compared) {
    if (request.comparison != Comparison::commit || request.attempt > 1) continue;
    again += known.insert(history.at(request.b).artifact).second ? 0 : 1;
  }
  return again;
}

double mean_of(const Launches& launches_s) {
  std::vector<double> steps_s;
  for (const auto& launch_s : launches_s) steps_s.insert(steps_s.end(), launch_s.begin(), launch_s.end());
  return mean(steps_s);
}

bool beyond_half(const Launches& good_s, const Launches& bad_s, const Launches& commit_s, Random&) {
  return mean_of(commit_s) > (mean_of(good_s) + mean_of(bad_s)) / 2;
}

bool beyond_fixed(const Launches& good_s, const Launches&, const Launches& commit_s, Random&) {
  return mean_of(commit_s) > (1 + kFixedRatio) * mean_of(good_s);
}

bool pooled_steps(const Launches& good_s, const Launches&, const Launches& commit_s, Random& random) {
  return rivals().front().flags(good_s, commit_s, random);
}

Launches launches_of(StepGenerator& generator, size_t count, double level_ratio) {
  Launches launches_s;
  for (size_t i = 0; i < count; ++i) launches_s.push_back(generator.next_launch({level_ratio, 0}));
  return launches_s;
}

}  // namespace

BisectTrial bisect_trial(const TrialSubject& subject, uint64_t seed) {
  StepGenerator generator(subject.generator, seed);
  return bisect_trial(subject, seed, [&](const ComparisonRequest&, size_t count, double change_ratio) {
    return measured_pairs(generator, count, {change_ratio, 0});
  });
}

BisectTrial bisect_trial(const TrialSubject& subject, uint64_t seed, const HistoryWorld::Measure& measure) {
  Random random(seed);
  const BisectHistory history = history_of(subject, random);
  HistoryWorld world(history, measure);
  Journal journal;
  const BisectionResult result = run_bisection(history.range, {}, world, journal);
  return {end_of(result, history), world.pairs, world.built.size(), result.candidates.size(),
          measured_twice(world, history)};
}

const std::vector<BisectRival>& bisect_rivals() {
  static const std::vector<BisectRival> kRivals{{"one launch, half of the difference", 1, beyond_half},
                                                {"one launch, fixed 7 %", 1, beyond_fixed},
                                                {"ten launches, Mann-Whitney on steps", 10, pooled_steps}};
  return kRivals;
}

BisectTrial rival_trial(const BisectRival& rival, const TrialSubject& subject, uint64_t seed) {
  Random random(seed);
  const BisectHistory history = history_of(subject, random);
  StepGenerator generator(subject.generator, seed);
  BisectTrial trial;
  const auto measured = [&](const std::string& commit) {
    trial.pairs += rival.launches;
    return launches_of(generator, rival.launches, history.level_ratio(commit));
  };
  const Launches good_s = measured(history.range.good), bad_s = measured(history.range.bad);
  CommitSearch search(history.range);
  while (const std::optional<size_t> next = search.next()) {
    const BisectHistory::Commit& commit = history.commits[*next];
    if (!commit.builds || commit.crashes) {
      search.mark(*next, CommitState::skipped);
      continue;
    }
    const Launches commit_s = measured(history.range.commits[*next].hash);
    search.mark(*next, rival.is_bad(good_s, bad_s, commit_s, generator.random()) ? CommitState::bad
                                                                                 : CommitState::good);
  }
  BisectionResult result;
  result.candidates = search.candidates();
  trial.candidates = result.candidates.size();
  trial.end = !names_a_step(result, history) ? TrialEnd::wrong
              : trial.candidates == 1        ? TrialEnd::right
                                             : TrialEnd::range;
  return trial;
}

}  // namespace flopmark::testing
