#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fakes/bisect_history.h"
#include "fakes/rivals.h"

namespace flopmark::testing {

/// How a bisection of a history with known truth ended. right: one commit, a true step, confirmed. range:
/// several, a true step among them. wrong: a commit that is no step was confirmed, or a range holds none.
/// unconfirmed: one commit, and the answer says that it may not be it. stopped: before the search.
enum class TrialEnd { right, range, unconfirmed, stopped, wrong };

struct BisectTrial {
  TrialEnd end = TrialEnd::stopped;
  size_t pairs = 0, builds = 0, candidates = 0;
  size_t measured_twice = 0;  ///< artifacts that were measured again as if they were new
};

/// What a trial is of: a history drawn by lot with a step of this size (0: none at all; every third has
/// another, half as large, every second an improvement), measured in adjacent launches of this kind of noise.
struct TrialSubject {
  std::string generator;  ///< of StepGenerator::names()
  double step_ratio = 0.05;
  size_t commits = 64;
};

BisectTrial bisect_trial(const TrialSubject& subject, uint64_t seed);
/// The same history with pairs from elsewhere; `subject.generator` is not used.
BisectTrial bisect_trial(const TrialSubject& subject, uint64_t seed, const HistoryWorld::Measure& measure);

/// How others bisect: a rule on launches of good and bad from the start, and of a commit now.
struct BisectRival {
  std::string name;
  size_t launches;  ///< of each commit, and of each end
  bool (*is_bad)(const Launches& good_s, const Launches& bad_s, const Launches& commit_s, Random& random);
};

/// One launch and half of the difference of the ends; one launch and 7 %; ten launches and Mann-Whitney on
/// pooled steps.
const std::vector<BisectRival>& bisect_rivals();

/// The same history and noise. Never unconfirmed or stopped.
BisectTrial rival_trial(const BisectRival& rival, const TrialSubject& subject, uint64_t seed);

}  // namespace flopmark::testing
