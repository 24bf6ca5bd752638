#include "cli/ab_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <random>

#include "cli/ab_calibration.h"
#include "cli/ab_options.h"
#include "cli/ab_progress.h"
#include "cli/ab_sides.h"
#include "cli/commands.h"
#include "cli/comparison_output.h"
#include "cli/interrupt.h"
#include "cli/measured_pairs.h"
#include "cli/rank_role.h"
#include "cli/run_output.h"
#include "cli/scratch_folder.h"
#include "cli/terminal.h"
#include "compare/paired_comparison.h"
#include "report/paired_report.h"
#include "results/git.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

/// A change of half a loss is what tells good from bad commits of a bisection.
void warn_in_bisection(const AbOptions& options) {
  const std::filesystem::path top = compared_tree(options.configs.front());
  if (options.mid_ratio || top.empty() || !is_bisecting(top)) return;
  write_warning(
      "inside git bisect without --mid, a small loss can be called good; give half the loss you look for: "
      "--mid 0.025 for one of 5 %");
}

std::vector<PairedComparison> resolve_comparisons(const AbOptions& options, const InterruptGuard& guard,
                                                  AbProgress& progress) {
  const ScratchFolder scratch(kBuildScratchBytes);
  const AbBuilds builds{scratch.path(), [&] { return guard.interrupted(); },
                        [&](const std::string& commit) { progress.building(commit); },
                        [&](const std::string& commit) { progress.waiting_for_build(commit); }};
  const uint64_t seed = options.seed.value_or(std::random_device{}());
  std::vector<PairedComparison> comparisons;
  for (const std::string& config : options.configs) {
    AbSides sides = resolve_sides(config, options, builds);
    PairedComparison comparison;
    comparison.a = std::move(sides.a);
    comparison.b = std::move(sides.b);
    comparison.rule = calibrated_by_store(ab_rule(options), comparison.a, options.store);
    comparison.seed = seed;
    comparison.result.name = comparison.b.inputs.config.name;
    comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

void measure(std::vector<PairedComparison>& comparisons, const AbOptions& options,
             const InterruptGuard& guard, AbProgress& progress) {
  PairMeasuring measuring;
  if (!options.budget.empty()) measuring.budget_s = duration_s(options.budget, "--budget");
  measuring.differences = options.differences;
  measuring.interrupted = [&] { return guard.interrupted(); };
  measuring.pair_begins = [&](const PairedProgress& at) { progress.pair_begins(at); };
  measure_pairs(comparisons, measuring);
  for (PairedComparison& comparison : comparisons) describe(comparison, options.differences);
}

void print_comparisons(const std::vector<PairedComparison>& comparisons, const std::string& format) {
  if (format == "json") return write_output(paired_json(comparisons));
  std::string text;
  for (const PairedComparison& comparison : comparisons) {
    text += (text.empty() ? "" : "\n") +
            (format == "markdown" ? paired_markdown(comparison) : paired_text(comparison));
  }
  write_output(text);
}

ExitCode code_of(const std::vector<PairedComparison>& comparisons) {
  std::vector<PairedResult> results;
  for (const PairedComparison& comparison : comparisons) results.push_back(comparison.result);
  return exit_code(results);
}

ExitCode run_ab(const AbOptions& options) {
  const std::vector<PairedComparison> comparisons = compare_sides(options);
  std::vector<EnvironmentDifference> differences;
  bool all_measured = true;
  for (const PairedComparison& comparison : comparisons) {
    all_measured = all_measured && !comparison.result.pairs.empty();
    differences.insert(differences.end(), comparison.environment_differences.begin(),
                       comparison.environment_differences.end());
  }
  if (all_measured) warn_of_unused_allowances(differences, options.differences.allow);
  print_and_write([&] { print_comparisons(comparisons, options.format); },
                  [&] {
                    if (!options.output.empty())
                      write_file_atomically(options.output, paired_json(comparisons));
                  });
  return code_of(comparisons);
}

}  // namespace

std::vector<PairedComparison> compare_sides(const AbOptions& options) {
  check_ab_options(options);
  refuse_launcher("flopmark ab");
  warn_in_bisection(options);
  if (!options.output.empty()) check_writable(options.output);
  const InterruptGuard guard;
  AbProgress progress(options.quiet, ab_rule(options).looks);
  std::vector<PairedComparison> comparisons = resolve_comparisons(options, guard, progress);
  measure(comparisons, options, guard, progress);
  progress.wipe();
  return comparisons;
}

void setup_ab(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<AbOptions>();
  CLI::App* command = app.add_subcommand("ab", "Measure two builds side by side until the verdict is sure");
  add_ab_options(*command, *options);
  command->footer(
      "Side b is the new one: change = b / a - 1. With --a.ref alone, b is the checked-out tree built the\n"
      "same way. Commits are built in worktrees of our own; your tree, index and branches stay as they are.\n"
      "Measured is build/release/bin/flopmark-worker of the build, or the config's own model or plug-in\n"
      "where that lies in the tree; --artifact names another.\n"
      "\n"
      "Exit codes: 0 same or faster, 1 slower, 125 not settled, or a build or launch failed, 201 not\n"
      "comparable, 203 too much interference.\n"
      "\n"
      "Examples:\n"
      "  flopmark ab configs/quickstart.json --a.set train.precision=fp32 --b.set train.precision=bf16\n"
      "  flopmark ab configs/quickstart.json --a.worker old/flopmark-worker --budget 30m\n"
      "  git bisect run flopmark ab configs/quickstart.json --a.ref v1.0 --build 'make worker' --mid 0.025");
  command->callback([options, &invocation] { invocation.action = [options] { return run_ab(*options); }; });
}

}  // namespace flopmark
