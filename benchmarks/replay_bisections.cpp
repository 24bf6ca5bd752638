// How often a bisection is right when its pairs are those that pair_pool measured of the real worker:
// histories with known truth, and for each comparison rows drawn from the pool whose injected slowdown is
// nearest to what the two commits differ by, shifted by what is left; where the nearest is none, with a
// random sign. Same pools and seed, same numbers. Needs no LibTorch. Exit code 1 where a limit of the test
// plan is not kept: a wrong culprit, less than 97 % right or in the range at 5 % and more, a search where
// nothing changed.
//
//   replay_bisections [--pools DIR] [--trials N] [--seed S] [--before TIME]

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <map>

#include "fakes/bisect_trials.h"
#include "pool_file.h"

namespace {

using namespace flopmark;
using namespace flopmark::benchmarks;
using namespace flopmark::testing;

constexpr double kLeastRight = 0.97, kPromised_ratio = 0.05;

struct Options {
  std::filesystem::path pools = "benchmarks/pools";
  size_t trials = 300;
  uint64_t seed = 1;
  std::string before;
};

/// Pairs by the slowdown that was injected.
using Pools = std::map<double, std::vector<PairRatios>>;

Pools read_pools(const Options& options) {
  Pools pools;
  for (const char* name :
       {"same-one-thread", "slower-1-percent", "slower-2-percent", "slower-5-percent", "slower-10-percent"}) {
    for (const PoolRow& row : read_pool(options.pools / (std::string(name) + ".jsonl"))) {
      if (options.before.empty() || row.time < options.before)
        pools[row.injected_ratio].push_back(row.ratios);
    }
  }
  if (!pools.contains(0))
    throw std::runtime_error(options.pools.string() + " has no pairs of same-one-thread");
  return pools;
}

/// A measured pair of two builds of which b takes 1 + `change_ratio` times as long.
PairRatios drawn_pair(const Pools& pools, double change_ratio, Random& random) {
  const auto distance = [&](const auto& pool) { return std::abs(pool.first - std::abs(change_ratio)); };
  auto nearest = pools.begin();
  for (auto pool = pools.begin(); pool != pools.end(); ++pool) {
    if (distance(*pool) < distance(*nearest)) nearest = pool;
  }
  const PairRatios& pair = nearest->second[random.index(nearest->second.size())];
  const double sign = nearest->first == 0 ? random.sign() : change_ratio < 0 ? -1 : 1;
  const double rest = std::log1p(change_ratio) - sign * std::log1p(nearest->first);
  return {sign * pair.throughput + rest, sign * pair.typical + rest, sign * pair.floor + rest};
}

/// Of `trials` bisections with a step of this size: whether the limits are kept.
bool replay(const Pools& pools, double step_ratio, const Options& options) {
  std::map<TrialEnd, size_t> ends;
  size_t pairs = 0, builds = 0, measured_twice = 0;
  for (size_t i = 0; i < options.trials; ++i) {
    const uint64_t seed = options.seed * 1000003 + i;
    Random random(seed ^ 0x9e3779b97f4a7c15U);
    const BisectTrial trial = bisect_trial({"", step_ratio}, seed,
                                           [&](const ComparisonRequest&, size_t count, double change_ratio) {
                                             std::vector<PairRatios> drawn;
                                             for (size_t k = 0; k < count; ++k)
                                               drawn.push_back(drawn_pair(pools, change_ratio, random));
                                             return drawn;
                                           });
    ++ends[trial.end];
    pairs += trial.pairs;
    builds += trial.builds;
    measured_twice += trial.measured_twice;
  }
  const auto count = static_cast<double>(options.trials);
  fmt::print("{:>4.0f} % {:>8} {:>8} {:>8} {:>8} {:>8} {:>9.1f} {:>8.1f}\n", 100 * step_ratio,
             ends[TrialEnd::right], ends[TrialEnd::range], ends[TrialEnd::unconfirmed],
             ends[TrialEnd::stopped], ends[TrialEnd::wrong], static_cast<double>(builds) / count,
             static_cast<double>(pairs) / count);
  const size_t found = ends[TrialEnd::right] + ends[TrialEnd::range];
  if (ends[TrialEnd::wrong] > 0 || measured_twice > 0) return false;
  if (step_ratio == 0) return ends[TrialEnd::stopped] == options.trials;
  return step_ratio < kPromised_ratio || static_cast<double>(found) >= kLeastRight * count;
}

bool replay_all(const Options& options) {
  const Pools pools = read_pools(options);
  for (const auto& [injected_ratio, pairs] : pools) {
    fmt::print("{} pairs at {:g} %\n", pairs.size(), 100 * injected_ratio);
  }
  fmt::print(
      "\n{} bisections each of 64 commits, seed {}\n\n  step    right    range  unconf.  stopped    wrong    "
      "builds    pairs\n",
      options.trials, options.seed);
  bool kept = true;
  for (const double step_ratio : {0.0, 0.02, 0.05, 0.10, 0.20}) kept &= replay(pools, step_ratio, options);
  fmt::print("\n{}\n", kept ? "every limit kept" : "LIMITS NOT KEPT");
  return kept;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Bisect histories with the pairs of pair_pool");
  app.add_option("--pools", options.pools, "Folder of the files")->capture_default_str();
  app.add_option("--trials", options.trials, "Bisections of each step size")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of histories and draws")->capture_default_str();
  app.add_option("--before", options.before, "Only pairs that began before this time, as 2026-12-01T08:00");
  CLI11_PARSE(app, argc, argv);
  try {
    return replay_all(options) ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "replay_bisections: {}\n", error.what());
    return 202;
  }
}
