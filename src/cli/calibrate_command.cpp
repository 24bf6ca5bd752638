#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <random>

#include "cli/ab_options.h"
#include "cli/ab_progress.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/measured_pairs.h"
#include "cli/option_checks.h"
#include "cli/rank_role.h"
#include "cli/terminal.h"
#include "compare/calibration.h"
#include "compare/calibration_file.h"
#include "hardware/environment.h"
#include "report/calibration_report.h"
#include "results/git.h"
#include "stats/quantile.h"

namespace flopmark {
namespace {

constexpr size_t kMostCalibrationPairs = 256;

struct CalibrateOptions {
  std::vector<std::string> configs, sets;
  std::filesystem::path worker, store;
  std::string budget, format = "table";
  size_t pairs = kLeastCalibrationPairs;
  std::optional<double> want_ratio;
  std::optional<uint64_t> seed;
  bool quiet = false;
};

void check_calibrate_options(const CalibrateOptions& options) {
  if (options.pairs < 1 || options.pairs > kMostCalibrationPairs) {
    throw usage_error(fmt::format("--pairs {}: from 1 to {}", options.pairs, kMostCalibrationPairs));
  }
  if (options.want_ratio && !(*options.want_ratio > 0 && *options.want_ratio < 1)) {
    throw usage_error(
        fmt::format("--want {}: is a ratio, above 0 and below 1: 0.02 is 2 %", *options.want_ratio));
  }
  if (!options.budget.empty()) duration_s(options.budget, "--budget");
  check_store_option(options.store, StoreUse::write);
}

/// One build against itself.
PairedComparison twin_sides(const std::string& config, const CalibrateOptions& options) {
  PairedComparison comparison;
  RecordInputs inputs;
  inputs.config = load_config(config, options.sets);
  inputs.host = host_environment();
  for (PairedSide* side : {&comparison.a, &comparison.b}) {
    side->worker = find_worker(options.worker).string();
    side->inputs = inputs;
  }
  comparison.rule.looks = {options.pairs};
  comparison.result.name = inputs.config.name;
  comparison.seed = options.seed.value_or(std::random_device{}());
  return comparison;
}

void measure_twins(std::vector<PairedComparison>& comparisons, const CalibrateOptions& options,
                   const InterruptGuard& guard) {
  AbProgress progress(options.quiet, comparisons.front().rule.looks);
  PairMeasuring measuring;
  if (!options.budget.empty()) measuring.budget_s = duration_s(options.budget, "--budget");
  measuring.interrupted = [&] { return guard.interrupted(); };
  measuring.pair_begins = [&](const PairedProgress& at) { progress.pair_begins(at); };
  measure_pairs(comparisons, measuring);
}

std::vector<CalibrationPair> pairs_to_keep(const PairedComparison& comparison) {
  const RunConfig& config = comparison.a.inputs.config;
  const Subject subject = inspect_tree(std::filesystem::absolute(config.file).parent_path());
  std::vector<CalibrationPair> kept;
  for (const MeasuredPair& pair : comparison.result.pairs) {
    kept.push_back({pair.time, calibration_key(config), subject.commit, pair.ratios, pair.a_first,
                    pair.a_s.front(), pair.conditions.others_cpu_ratio, pair.conditions.steal_ratio});
  }
  return kept;
}

/// Of the launches measured now; a launch costs what a pair took beside its steps, halved.
std::optional<VarianceSplit> variance_of(const PairedResult& result) {
  std::vector<std::vector<double>> launches_s;
  std::vector<double> launch_costs_s, steps_s;
  for (size_t i = 0; i < result.pairs.size(); ++i) {
    double timed_s = 0;
    for (const LaunchSamples* launch : {&result.launches_a[i], &result.launches_b[i]}) {
      if (launch->timed.step_s.size() < 2) return std::nullopt;
      launches_s.push_back(launch->timed.step_s);
      timed_s += launch->timed.wall_s;
      steps_s.push_back(mean(launch->timed.step_s));
    }
    launch_costs_s.push_back(std::max(1e-3, (result.pairs[i].conditions.duration_s - timed_s) / 2));
  }
  if (launches_s.size() < 2) return std::nullopt;
  return split_variance(launches_s, median(launch_costs_s), median(steps_s));
}

void throw_if_unfinished(const PairedResult& result) {
  if (result.end == PairedEnd::interrupted) {
    throw Error(ExitCode::interrupted, fmt::format("{}: interrupted; the {} pairs measured so far are kept",
                                                   result.name, result.pairs.size()));
  }
  if (result.end == PairedEnd::failed) {
    throw judge_error(fmt::format("{}: pair {} failed: {}: {}", result.name, result.failure->pair,
                                  result.failure->failure.kind, result.failure->failure.text));
  }
}

void calibrate_config(const std::string& config, const CalibrateOptions& options,
                      const InterruptGuard& guard) {
  std::vector<PairedComparison> comparisons{twin_sides(config, options)};
  PairedComparison& comparison = comparisons.front();
  const RunConfig& resolved = comparison.a.inputs.config;
  const Store store = find_store(options.store, resolved.file);
  check_writable(store.baselines() / "README.md");
  measure_twins(comparisons, options, guard);
  const PairedResult& result = comparison.result;
  if (result.pairs.empty()) {
    throw_if_unfinished(result);
    throw judge_error(fmt::format("{}: no pair was measured within the budget", result.name));
  }
  const Environment environment =
      of_ranks(merge_environment(comparison.a.inputs.host, result.launches_a.front().environment),
               resolved.parallel.ranks);
  const std::filesystem::path path = calibration_path(store, resolved.name, environment);
  add_calibration(store, path, pairs_to_keep(comparison));
  throw_if_unfinished(result);

  CalibrationReport report;
  report.name = resolved.name;
  report.calibration =
      calibrate(calibration_ratios(read_calibration(path), calibration_key(resolved)), report.rule);
  report.fresh_pairs = result.pairs.size();
  report.variance = variance_of(result);
  report.steps = static_cast<size_t>(resolved.measure.steps);
  report.path = display_path(path);
  write_output(options.format == "json" ? calibration_json(report) : calibration_text(report));
  if (options.want_ratio) {
    require_detectable(report.calibration, calibrated_rule(report.rule, report.calibration),
                       *options.want_ratio);
  }
}

ExitCode run_calibrate(const CalibrateOptions& options) {
  check_calibrate_options(options);
  refuse_launcher("flopmark calibrate");
  const InterruptGuard guard;
  for (const std::string& config : options.configs) calibrate_config(config, options, guard);
  return ExitCode::ok;
}

}  // namespace

void setup_calibrate(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<CalibrateOptions>();
  CLI::App* command =
      app.add_subcommand("calibrate", "Find out how small a change this machine can judge, and keep it");
  command->add_option("CONFIG", options->configs, "Config files, measured in turn")
      ->type_name("FILE")
      ->required();
  command->add_option("--set", options->sets, "Change a key of the config; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--worker", options->worker, "The flopmark-worker to start")
      ->type_name("FILE")
      ->check(not_empty());
  command->add_option("--pairs", options->pairs, "Pairs to measure now, beside those on file")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--budget", options->budget, "Stop in time to end within 90s, 30m or 2h")
      ->type_name("TIME")
      ->check(not_empty());
  command->add_option("--want", options->want_ratio, "Fail (203) unless a change of R is found: 0.02 is 2 %")
      ->type_name("R");
  command->add_option("--format", options->format, "Form of the report")
      ->check(CLI::IsMember({"table", "json"}));
  command->add_option("--store", options->store, "Folder of baselines/; made if its parent exists")
      ->type_name("DIR")
      ->check(not_empty());
  add_seed_option(*command, options->seed);
  command->add_flag("--quiet", options->quiet, "No progress");
  command->footer(
      "Measures one build against itself, in pairs as flopmark ab does. At least 20 pairs are needed;\n"
      "more are added to those on file. ab then takes its tolerances from them.\n"
      "\n"
      "Example:\n"
      "  flopmark calibrate configs/quickstart.json --pairs 40 --want 0.02");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return run_calibrate(*options); }; });
}

}  // namespace flopmark
