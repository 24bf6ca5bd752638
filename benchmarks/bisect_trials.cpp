// How often a bisection is right, on histories and step times made with known truth, beside what others do on
// the same ones. Same seed, same table, on every machine. Needs no LibTorch. Exit code 1 where a limit of the
// test plan is not kept: a wrong culprit in 0.5 % or more of the bisections, one found where nothing changed,
// less than 97 % right or in the range where the noise allows it, an artifact measured twice.
//
//   bisect_trials [TRIALS [SEED]]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "fakes/bisect_trials.h"
#include "fakes/step_generator.h"
#include "stats/multiplicity.h"

namespace {

using namespace flopmark;
using namespace flopmark::testing;

constexpr double kMostWrong = 0.5, kLeastRight = 97;  // percent

size_t missed_limits = 0;

void require(bool kept, const char* limit, const std::string& where) {
  if (kept) return;
  ++missed_limits;
  std::printf("  NOT KEPT: %s, %s\n", limit, where.c_str());
}

struct Plan {
  size_t trials = 1000;
  uint64_t seed = 1;

  uint64_t seed_of(size_t trial) const { return seed * 1000003 + trial; }
};

/// Over trials.
struct Tally {
  size_t trials = 0;
  std::map<TrialEnd, size_t> ends;
  size_t pairs = 0, builds = 0, measured_twice = 0, range_commits = 0;

  void add(const BisectTrial& trial) {
    ++trials;
    ++ends[trial.end];
    pairs += trial.pairs;
    builds += trial.builds;
    measured_twice += trial.measured_twice;
    range_commits += trial.end == TrialEnd::range ? trial.candidates : 0;
  }
  double percent(TrialEnd end) {
    return 100.0 * static_cast<double>(ends[end]) / static_cast<double>(trials);
  }
  double mean(size_t sum) const { return static_cast<double>(sum) / static_cast<double>(trials); }
};

Tally bisections(const TrialSubject& subject, const Plan& plan) {
  Tally tally;
  for (size_t trial = 0; trial < plan.trials; ++trial) tally.add(bisect_trial(subject, plan.seed_of(trial)));
  return tally;
}

/// Where noise as small as this leaves no excuse.
bool is_promised(const TrialSubject& subject) {
  return subject.step_ratio >= 0.05 && subject.generator != "noisy" && subject.generator != "neighbour";
}

void print_row(const TrialSubject& subject, const Plan& plan, Tally& all) {
  Tally tally = bisections(subject, plan);
  const double range = tally.percent(TrialEnd::range), right = tally.percent(TrialEnd::right);
  const double candidates =
      tally.ends[TrialEnd::range] == 0
          ? 0
          : static_cast<double>(tally.range_commits) / static_cast<double>(tally.ends[TrialEnd::range]);
  std::printf("%-12s %4.0f %% %7.1f %7.1f %6.1f %8.1f %9.1f %7.2f %7.1f %7.1f ", subject.generator.c_str(),
              100 * subject.step_ratio, right, range, candidates, tally.percent(TrialEnd::unconfirmed),
              tally.percent(TrialEnd::stopped), tally.percent(TrialEnd::wrong), tally.mean(tally.builds),
              tally.mean(tally.pairs));
  for (const BisectRival& rival : bisect_rivals()) {
    Tally other;
    for (size_t i = 0; i <= plan.trials / 5; ++i) other.add(rival_trial(rival, subject, plan.seed_of(i)));
    std::printf(" %9.0f", other.percent(TrialEnd::wrong));
  }
  std::printf("\n");
  std::fflush(stdout);
  require(tally.percent(TrialEnd::wrong) < kMostWrong, "wrong culprits below 0.5 %", subject.generator);
  const size_t found = tally.ends[TrialEnd::right] + tally.ends[TrialEnd::range];
  require(!is_promised(subject) || 100 * binomial_upper_bound(found, tally.trials, 0.05) >= kLeastRight,
          "right or in the range in 97 %, as far as so many trials tell", subject.generator);
  require(tally.measured_twice == 0, "equal artifacts measured once", subject.generator);
  all.trials += tally.trials;
  all.pairs += tally.pairs;
  for (const auto& [end, count] : tally.ends) all.ends[end] += count;
}

void print_steps(const Plan& plan) {
  std::printf(
      "\n64 commits with a step of 2, 5 or 20 %% (every third: another, half as large), 15 %% unbuildable, "
      "10 %% "
      "docs only,\na crash, every second an improvement; %% of the bisections, mean builds and pairs, and %% "
      "wrong "
      "of others\n\n"
      "generator      step   right   range  (size) unconf.   stopped   wrong  builds   pairs   one, half "
      "one, 7 "
      "%% ten, MWU\n");
  Tally all;
  for (const std::string& name : StepGenerator::names()) {
    for (const double step_ratio : {0.02, 0.05, 0.20}) print_row({name, step_ratio}, plan, all);
  }
  std::printf("\nwrong: %zu of %zu bisections (upper 95 %% bound %.3f %%)\n", all.ends[TrialEnd::wrong],
              all.trials, 100 * binomial_upper_bound(all.ends[TrialEnd::wrong], all.trials, 0.05));
}

void print_sizes(const Plan& plan) {
  std::printf("\nLonger histories, quiet, 5 %%: right or in the range, wrong, builds, pairs\n");
  for (const size_t commits : {256U, 1024U}) {
    Tally tally = bisections({"quiet", 0.05, commits}, {plan.trials / 5 + 1, plan.seed});
    std::printf("%5zu commits %7.1f %7.2f %7.1f %7.1f\n", commits,
                tally.percent(TrialEnd::right) + tally.percent(TrialEnd::range),
                tally.percent(TrialEnd::wrong), tally.mean(tally.builds), tally.mean(tally.pairs));
    require(tally.percent(TrialEnd::wrong) < kMostWrong, "wrong culprits below 0.5 %", "longer histories");
  }
}

void print_nothing_changed(const Plan& plan) {
  std::printf("\nNothing changed: %% stopped before the search, mean pairs\n");
  for (const std::string& name : StepGenerator::names()) {
    Tally tally = bisections({name, 0}, plan);
    const size_t went_on = tally.trials - tally.ends[TrialEnd::stopped];
    std::printf("%-12s %8.2f %7.1f\n", name.c_str(), tally.percent(TrialEnd::stopped),
                tally.mean(tally.pairs));
    require(tally.ends[TrialEnd::right] + tally.ends[TrialEnd::wrong] == 0 && went_on * 200 < tally.trials,
            "stopped where nothing changed", name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  if (argc > 1) plan.trials = std::strtoull(argv[1], nullptr, 10);
  if (argc > 2) plan.seed = std::strtoull(argv[2], nullptr, 10);
  if (plan.trials == 0) {
    std::fputs("usage: bisect_trials [TRIALS [SEED]]\n", stderr);
    return 200;
  }
  std::printf("%zu bisections each, seed %llu\n", plan.trials, static_cast<unsigned long long>(plan.seed));
  print_steps(plan);
  print_sizes(plan);
  print_nothing_changed(plan);
  std::printf("\n%s\n", missed_limits == 0 ? "every limit kept" : "LIMITS NOT KEPT");
  return missed_limits == 0 ? 0 : 1;
}
