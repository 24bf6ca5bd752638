// Gathers pairs of the real worker, measured as flopmark ab measures them, in append-only files: one build
// with itself on one thread and on all cores, and against 1, 2, 5 and 10 % more work of its own step (more
// micro-batches: the truth is a count, and each row has it). judge_pools judges them.
//
//   pair_pool [--pools DIR] [--configs DIR] [--pairs N] [--minutes M] [--seed S] [--commit C]
//
// The pools take turns in random order, so that a stop leaves all of them grown; an existing file is gone on
// with. Every pair that was measured is kept: one that an outside cause disturbed says so in its row. Where
// FLOPMARK_LOCK names a file, a pair waits for its lock, so that other work can keep out of its way.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>

#include "cli/interrupt.h"
#include "cli/worker_pairs.h"
#include "compare/calibration_file.h"
#include "compare/launch_ratios.h"
#include "compare/spawn_order.h"
#include "hardware/environment.h"
#include "pool_file.h"
#include "results/git.h"

namespace {

using namespace flopmark;
using namespace flopmark::benchmarks;

struct PoolKind {
  const char* name;
  const char* config;
  double injected_ratio;
  int per_round;  ///< pairs of each round
};

/// False alarms are rare and need more pairs than power does.
constexpr PoolKind kKinds[] = {
    {"same-one-thread", "one-thread", 0, 3},     {"same-all-cores", "all-cores", 0, 2},
    {"slower-1-percent", "one-thread", 0.01, 1}, {"slower-2-percent", "one-thread", 0.02, 1},
    {"slower-5-percent", "one-thread", 0.05, 1}, {"slower-10-percent", "one-thread", 0.10, 1}};

struct Options {
  std::filesystem::path configs = "benchmarks/pools", pools = "benchmarks/pools", worker;
  size_t pairs = 0;    ///< 0: no limit
  double minutes = 0;  ///< 0: no limit
  uint64_t seed = std::random_device{}();
  std::string commit;
};

double load_average() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : NAN;
}

/// One pool while it grows.
struct Pool {
  Pool(const PoolKind& what, const Options& options, uint64_t seed);

  const PoolKind& kind;
  std::vector<PairedComparison> sides;
  SpawnOrder order;
  PoolWriter writer;
  std::string machine;
};

PairedSide side_of(const PoolKind& kind, const Options& options, double injected_ratio) {
  PairedSide side;
  const std::filesystem::path file = options.configs / (std::string(kind.config) + ".json");
  side.worker = find_worker(options.worker).string();
  side.inputs.config = load_config(file);
  int64_t& micro_batches = side.inputs.config.train.gradient_accumulation;
  const double more = static_cast<double>(micro_batches) * injected_ratio;
  if (std::abs(more - std::round(more)) > 1e-9) {
    throw usage_error(fmt::format("{}: {:g} of {} micro-batches is no whole number of them", file.string(),
                                  injected_ratio, micro_batches));
  }
  micro_batches += std::lround(more);
  side.inputs.host = host_environment();
  return side;
}

Pool::Pool(const PoolKind& what, const Options& options, uint64_t seed)
    : kind(what), sides(1), order(seed), writer(options.pools / (std::string(what.name) + ".jsonl")) {
  PairedSide& a = sides[0].a;
  a = side_of(kind, options, 0);
  sides[0].b = side_of(kind, options, kind.injected_ratio);
  machine = hardware_slug(
      merge_environment(a.inputs.host, ask_worker_environment(a.worker, a.inputs.config.device)));
}

std::vector<int64_t> whole_microseconds(const std::vector<double>& times_s) {
  std::vector<int64_t> whole;
  for (const double time_s : times_s) whole.push_back(std::llround(time_s * 1e6));
  return whole;
}

void throw_if_bad(const LaunchOutcome& launch, const char* side, const PoolKind& kind) {
  if (launch.status == LaunchOutcome::Status::interrupted && launch.signal != 0) {
    throw Error(ExitCode::interrupted, "interrupted; the pair that was being measured is left out");
  }
  if (launch.status == LaunchOutcome::Status::ok && launch_summaries_s(*launch.samples) &&
      launch.samples->flops)
    return;
  throw judge_error(fmt::format("{}: side {} failed: {}", kind.name, side,
                                launch.failure ? launch.failure->text : "no usable step times"));
}

void measure_pair(Pool& pool, const Options& options, uint64_t seed) {
  PoolRow row;
  row.load_before = load_average();
  row.seed = seed;
  row.a_first = pool.order.a_first(false);
  WorkerPairs source(pool.sides);
  const LaunchPair pair = source.measure({.workload = 0, .a_first = row.a_first, .seed = seed});
  for (const auto& [launch, side] : {std::pair(&pair.a, "a"), {&pair.b, "b"}}) {
    if (launch->status == LaunchOutcome::Status::failed) throw_if_bad(*launch, side, pool.kind);
  }
  throw_if_bad(pair.a, "a", pool.kind);
  throw_if_bad(pair.b, "b", pool.kind);
  const RunConfig& config = pool.sides[0].a.inputs.config;
  row.time = pair.time;
  row.machine = pool.machine;
  row.commit = options.commit;
  row.config = calibration_key(config);
  row.threads = config.measure.threads;
  row.injected_ratio = pool.kind.injected_ratio;
  row.flop_a = pair.a.samples->flops->model_flop();
  row.flop_b = pair.b.samples->flops->model_flop();
  row.conditions = pair.conditions;
  row.disturbed = disturbance(pair.conditions);
  row.turns = std::ssize(pair.a.samples->turns);
  row.ratios = launch_ratios(*pair.a.samples, *pair.b.samples);
  row.a_s = *launch_summaries_s(*pair.a.samples);
  row.b_s = *launch_summaries_s(*pair.b.samples);
  row.a_us = whole_microseconds(pair.a.samples->timed.step_s);
  row.b_us = whole_microseconds(pair.b.samples->timed.step_s);
  pool.writer.add(row);
}

/// Which pool comes when, in one round.
std::vector<size_t> drawn_round(Random& random) {
  std::vector<size_t> round;
  for (size_t i = 0; i < std::size(kKinds); ++i) round.insert(round.end(), kKinds[i].per_round, i);
  for (size_t i = round.size(); i > 1; --i) std::swap(round[i - 1], round[random.index(i)]);
  return round;
}

void gather(const Options& options) {
  const InterruptGuard guard;
  Random random(options.seed);
  std::vector<std::unique_ptr<Pool>> pools;
  for (const PoolKind& kind : kKinds) {
    pools.push_back(std::make_unique<Pool>(kind, options, random.bits()));
  }
  const auto start = std::chrono::steady_clock::now();
  size_t measured = 0;
  const auto is_over = [&] {
    const std::chrono::duration<double, std::ratio<60>> passed = std::chrono::steady_clock::now() - start;
    return guard.interrupted() || (options.pairs > 0 && measured >= options.pairs) ||
           (options.minutes > 0 && passed.count() >= options.minutes);
  };
  while (!is_over()) {
    for (const size_t index : drawn_round(random)) {
      if (is_over()) break;
      measure_pair(*pools[index], options, random.bits());
      ++measured;
    }
  }
  fmt::print("{} pairs added to {}\n", measured, options.pools.string());
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--pools", options.pools, "Folder of the files")->capture_default_str();
  app.add_option("--configs", options.configs, "Folder of the configs")->capture_default_str();
  app.add_option("--worker", options.worker, "The flopmark-worker to start");
  app.add_option("--pairs", options.pairs, "Pairs to add, of all pools together");
  app.add_option("--minutes", options.minutes, "Begin no pair after so many");
  app.add_option("--seed", options.seed, "Of all orders; a fresh one if not given");
  app.add_option("--commit", options.commit, "What the worker was built from; default: the configs' tree");
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Gather pairs for judge_pools");
  add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    if (options.commit.empty()) options.commit = inspect_tree(options.configs).commit.value_or("");
    if (options.commit.empty()) throw usage_error("--commit: the configs lie in no Git tree; say which");
    gather(options);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "pair_pool: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "pair_pool: {}\n", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}
