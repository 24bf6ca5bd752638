// How often the judge is right on pairs of the real worker (pair_pool): false alarms on one build with
// itself, in disjoint windows and in resamples with random signs; what is found of injected slowdowns, beside
// what the pool of one build with itself predicts; and the rules that others use on the same launches. Same
// pools and seed, same numbers. Needs no LibTorch. Exit code 1 where a limit of the test plan is not kept.
//
//   judge_pools [--pools DIR] [--seed S] [--undisturbed] [--before TIME]

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>

#include "compare/calibration.h"
#include "pool_judging.h"
#include "stats/signed_rank.h"

namespace {

using namespace flopmark;
using namespace flopmark::benchmarks;

constexpr size_t kSignedResamples = 10'000, kPowerResamples = 2'000;
constexpr double kMostSignedAlarms = 0.015;
constexpr size_t kWindowsOfTwelve = 83, kMostAlarms = 2;  // 95 % of judges with a true 1 % pass
constexpr double kPredictionMargin = 0.10;

/// What the test plan asks of the floor: least power with up to 24 and up to 64 pairs.
struct Floor {
  double injected_ratio, by_24, by_64;
};
constexpr Floor kFloors[] = {{0.02, 0.40, 0.65}, {0.05, 0.75, 0.95}, {0.10, 0.85, 0.99}};

struct Options {
  std::filesystem::path pools = "benchmarks/pools";
  uint64_t seed = 1;
  bool undisturbed = false;
  std::string before;
};

struct Pool {
  std::string name;
  std::vector<PoolRow> rows;
  std::vector<PairRatios> ratios;
};

size_t missed_limits = 0;

void require(bool kept, const std::string& limit) {
  if (kept) return;
  ++missed_limits;
  fmt::print("  NOT KEPT: {}\n", limit);
}

std::vector<Pool> read_pools(const Options& options) {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(options.pools)) {
    if (entry.path().extension() == ".jsonl") files.insert(entry.path());
  }
  std::vector<Pool> pools;
  for (const auto& file : files) {
    Pool pool{file.stem().string(), read_pool(file), {}};
    std::erase_if(pool.rows, [&](const PoolRow& row) {
      return (options.undisturbed && row.disturbed) ||
             (!options.before.empty() && row.time >= options.before);
    });
    pool.ratios = ratios_of(pool.rows);
    if (!pool.rows.empty()) pools.push_back(std::move(pool));
  }
  return pools;
}

/// Both gates, with the tolerances that this pool of one build with itself gives.
JudgeRule calibrated(const Pool& same) {
  return rule_calibrated_by(same.ratios, JudgeRule{});
}

JudgeRule floor_alone(JudgeRule rule) {
  std::erase_if(rule.gates, [](const Gate& gate) { return gate.summary != Summary::floor; });
  return rule;
}

void print_inventory(const Pool& pool) {
  const auto disturbed = std::count_if(pool.rows.begin(), pool.rows.end(),
                                       [](const PoolRow& row) { return row.disturbed.has_value(); });
  std::set<std::string> machines, commits;
  std::set<double> counted;
  for (const PoolRow& row : pool.rows) {
    machines.insert(row.machine);
    commits.insert(row.commit.substr(0, 10));
    counted.insert(static_cast<double>(row.flop_b) / static_cast<double>(row.flop_a) - 1);
  }
  fmt::print("{:<20} {:5} pairs, {:4} disturbed, {} to {}, {}, commit {}, FLOPs b / a - 1: {:.6f}\n",
             pool.name, pool.rows.size(), disturbed, pool.rows.front().time.substr(0, 16),
             pool.rows.back().time.substr(0, 16), fmt::join(machines, " "), fmt::join(commits, " "),
             fmt::join(counted, " "));
}

void print_windows(const Pool& pool, const JudgeRule& rule) {
  for (const size_t size : {size_t{12}, size_t{64}}) {
    for (const bool swap : {false, true}) {
      const VerdictCounts counts = judge_windows(swap ? exchanged(pool.ratios) : pool.ratios, rule, size);
      fmt::print(
          "  windows of {}, {}: {:3}; slower {}, at most {:.1f} % of them at 95 %; same {}, faster {}, "
          "unsure "
          "{}; floor not slower {}\n",
          size, swap ? "b to a" : "a to b", counts.trials, counts.slower, 100 * counts.slower_bound(),
          counts.same, counts.faster, counts.unsure, counts.floor_not_slower);
      if (size == 64) {
        require(counts.floor_not_slower + 1 + counts.trials / 15 > counts.trials,
                "floor not slower in 14 of 15 windows of 64");
      }
    }
  }
  const size_t first = std::min(pool.ratios.size() / 12, kWindowsOfTwelve) * 12;
  const std::vector<PairRatios> begin(pool.ratios.begin(),
                                      pool.ratios.begin() + static_cast<std::ptrdiff_t>(first));
  require(judge_windows(begin, rule, 12).slower <= kMostAlarms,
          "at most 2 alarms in the first 83 windows of 12");
}

void print_same(const Pool& pool, const Options& options) {
  const JudgeRule rule = calibrated(pool);
  fmt::print("\n{}: {} pairs; tolerances {:.2f} % (throughput), {:.2f} % (floor)\n", pool.name,
             pool.ratios.size(), 100 * rule.gates[0].tol_ratio, 100 * rule.gates[1].tol_ratio);
  print_windows(pool, rule);
  const VerdictCounts drawn = judge_signed_resamples(pool.ratios, rule, kSignedResamples, options.seed);
  const double share = static_cast<double>(drawn.slower) / static_cast<double>(drawn.trials);
  fmt::print("  {} resamples with random signs, up to 64 pairs: slower {:.2f} %, unsure {:.1f} %\n",
             drawn.trials, 100 * share, 100.0 * static_cast<double>(drawn.unsure) / kSignedResamples);
  require(share <= kMostSignedAlarms, "at most 1.5 % slower in resamples with random signs");
  if (pool.ratios.size() < kLeastCalibrationPairs) return;
  for (const SummaryCalibration& summary : calibrate(pool.ratios, JudgeRule{}).summaries) {
    fmt::print(
        "  {:<10} bias {:+.3f} %, 1.4826 MAD {:.2f} %, sd {:.2f} %, acf {:+.2f}, detectable {:.1f} %\n",
        to_text(summary.summary), 100 * summary.bias_ratio, 100 * summary.mad_sigma_ratio,
        100 * summary.sd_ratio, summary.acf.front(), 100 * summary.detectable_ratio);
  }
}

/// How much longer the undisturbed step of side b is by the clock: about what the count says, since what else
/// is in a step is not repeated, and where code and data lie differs.
double clock_ratio(const Pool& pool) {
  std::vector<double> floors;
  for (const PairRatios& pair : pool.ratios) floors.push_back(pair.floor);
  return std::expm1(WalshAverages(floors).estimate());
}

void print_power(const Pool& pool, const Pool& same, const Options& options) {
  const double injected_ratio = pool.rows.front().injected_ratio;
  const double longer_ratio = clock_ratio(pool);
  const JudgeRule both = calibrated(same);
  CalibrationOptions drawing;
  drawing.trials = kPowerResamples;
  drawing.seed = options.seed;
  for (const size_t most : {size_t{24}, size_t{64}}) {
    for (const JudgeRule& gates : {both, floor_alone(both)}) {
      const JudgeRule rule = rule_up_to(gates, most);
      const VerdictCounts found = judge_resamples(pool.ratios, rule, kPowerResamples, options.seed);
      const double power = static_cast<double>(found.slower) / static_cast<double>(found.trials);
      const double predicted = resampled_power(same.ratios, rule, injected_ratio, drawing);
      const double by_clock = resampled_power(same.ratios, rule, longer_ratio, drawing);
      const bool by_floor = rule.gates.size() == 1;
      fmt::print(
          "{:<20} {:4} pairs  <= {} {:<10}  slower {:5.1f} %, predicted {:5.1f} %, for {:+.2f} % by the "
          "clock {:5.1f} %; same {:.1f} %, faster {}\n",
          pool.name, pool.rows.size(), most, by_floor ? "floor" : "both gates", 100 * power, 100 * predicted,
          100 * longer_ratio, 100 * by_clock, 100.0 * static_cast<double>(found.same) / kPowerResamples,
          found.faster);
      require(found.faster == 0, "never called faster");
      if (!by_floor) continue;
      require(std::abs(power - predicted) <= kPredictionMargin, "within 10 points of the prediction");
      for (const Floor& floor : kFloors) {
        if (std::abs(floor.injected_ratio - injected_ratio) > 1e-9) continue;
        require(power >= (most == 24 ? floor.by_24 : floor.by_64), "least power of the test plan");
      }
    }
  }
}

void print_rivals(const std::vector<Pool>& pools, const Options& options) {
  fmt::print(
      "\nOthers, flagged as slower of so many: ten launches and then ten; in brackets both sides of the same "
      "ten pairs\n{:<30}",
      "rule");
  for (const Pool& pool : pools) fmt::print(" {:>19}", pool.name);
  fmt::print("\n");
  for (const testing::Rival& rival : testing::rivals()) {
    fmt::print("{:<30}", rival.name);
    for (const Pool& pool : pools) {
      const RivalCounts after = rival_one_after_other(rival, pool.rows, options.seed);
      const RivalCounts beside = rival_side_by_side(rival, pool.rows, options.seed);
      fmt::print(" {:>19}",
                 fmt::format("{}/{} ({}/{})", after.flagged, after.trials, beside.flagged, beside.trials));
    }
    fmt::print("\n");
  }
}

void judge(const Options& options) {
  const std::vector<Pool> pools = read_pools(options);
  std::map<std::string, const Pool*> same_by_config;
  for (const Pool& pool : pools) {
    print_inventory(pool);
    if (pool.rows.front().injected_ratio == 0) same_by_config[pool.rows.front().config] = &pool;
  }
  for (const auto& [config, pool] : same_by_config) print_same(*pool, options);
  fmt::print("\nInjected slowdowns, {} resamples each, tolerances of the pool without one\n",
             kPowerResamples);
  for (const Pool& pool : pools) {
    const auto same = same_by_config.find(pool.rows.front().config);
    if (pool.rows.front().injected_ratio > 0 && same != same_by_config.end()) {
      print_power(pool, *same->second, options);
    }
  }
  print_rivals(pools, options);
  fmt::print("\n{}\n", missed_limits == 0 ? "every limit kept" : "LIMITS NOT KEPT");
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Judge the pairs of pair_pool");
  app.add_option("--pools", options.pools, "Folder of the files")->capture_default_str();
  app.add_option("--seed", options.seed, "Of the resamples")->capture_default_str();
  app.add_flag("--undisturbed", options.undisturbed, "Leave pairs out that an outside cause disturbed");
  app.add_option("--before", options.before, "Only pairs that began before this time, as 2026-12-01T08:00");
  CLI11_PARSE(app, argc, argv);
  try {
    judge(options);
    return missed_limits == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "judge_pools: {}\n", error.what());
    return 202;
  }
}
