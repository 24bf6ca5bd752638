#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <random>

#include "bisect/bisection.h"
#include "cli/ab_options.h"
#include "cli/bisect_narrator.h"
#include "cli/bisect_options.h"
#include "cli/bisect_subject.h"
#include "cli/commands.h"
#include "cli/commit_pairs.h"
#include "cli/interrupt.h"
#include "cli/measured_pairs.h"
#include "cli/rank_role.h"
#include "cli/scratch_folder.h"
#include "cli/terminal.h"
#include "flopmark/counted.h"
#include "launch/build_command.h"
#include "report/bisect_report.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

BisectPlan plan_of(const BisectOptions& options) {
  BisectPlan plan;
  if (!options.budget.empty()) plan.budget_s = duration_s(options.budget, "--budget");
  plan.seed = options.seed.value_or(std::random_device{}());
  return plan;
}

ArtifactPlan artifact_plan(const BisectOptions& options, const BisectSubject& subject,
                           const std::filesystem::path& scratch, const InterruptGuard& guard,
                           BisectNarrator& narrator) {
  ArtifactPlan plan;
  plan.top = subject.top;
  plan.command = options.build;
  plan.artifact = subject.artifact;
  plan.cache = build_cache();
  plan.scratch = scratch;
  plan.timeout_s = duration_s(options.build_timeout, "--build-timeout");
  plan.cache_bytes = size_bytes(options.cache_size, "--cache-size");
  plan.interrupted = [&guard] { return guard.interrupted(); };
  plan.builds = [&narrator](const std::string& commit) { narrator.build_begins(commit); };
  return plan;
}

void announce(const BisectOptions& options, const BisectSubject& subject, const BisectPlan& plan) {
  if (options.quiet) return;
  const size_t steps = CommitSearch(subject.range).most_steps();
  write_note(fmt::format(
      "{} between: good and bad first, then {} at most; {} in all unless some must be skipped, {} to {} "
      "pairs for each; how long that takes is told when good and bad are measured",
      counted(std::ssize(subject.range.commits), "commit"), counted(static_cast<int64_t>(steps), "commit"),
      counted(static_cast<int64_t>(steps + 2), "build"), plan.looks.front(), plan.looks.back()));
}

/// What a reader may want to type next.
std::vector<BisectReport::Command> commands_for(const BisectOptions& options, const CommitRange& range,
                                                const BisectionResult& result) {
  std::vector<BisectReport::Command> commands;
  for (const OtherHalf& half : result.other_halves) {
    commands.push_back({"the other half", bisect_line(options, half.good, half.bad)});
  }
  if (result.outcome == BisectOutcome::interrupted) {
    commands.push_back({"to go on", bisect_line(options, range.good, range.bad) + " --resume"});
  }
  if (!result.parent.empty() && result.candidates.size() == 1) {
    const std::string& culprit = range.commits.at(result.candidates.front()).hash;
    commands.push_back({"to compare it with its parent again", ab_line(options, result.parent, culprit)});
  }
  commands.push_back({"to repeat the search", bisect_line(options, range.good, range.bad)});
  if (result.regression) {
    commands.push_back({"the same by git", git_bisect_line(options, range, result.regression->mid_ratio())});
  }
  return commands;
}

void print_report(const BisectReport& report, const BisectOptions& options) {
  print_and_write(
      [&] {
        write_output(options.format == "json"       ? bisect_json(report)
                     : options.format == "markdown" ? bisect_markdown(report)
                                                    : bisect_text(report));
      },
      [&] {
        if (!options.output.empty()) write_file_atomically(options.output, bisect_json(report));
      });
}

BisectReport report_of(const BisectOptions& options, const BisectSubject& subject, BisectionResult result) {
  BisectReport report;
  report.config = subject.inputs.config.name;
  report.good_reference = options.good;
  report.bad_reference = options.bad;
  report.range = subject.range;
  report.result = std::move(result);
  report.build = options.build;
  report.artifact = subject.artifact.string();
  report.commands = commands_for(options, subject.range, report.result);
  return report;
}

ExitCode run_bisect(const BisectOptions& options) {
  check_bisect_options(options);
  refuse_launcher("flopmark bisect");
  if (!options.output.empty()) check_writable(options.output);
  const double begun_s = monotonic_s();
  const InterruptGuard guard;
  const ScratchFolder scratch(kBuildScratchBytes);
  const BisectSubject subject = find_subject(options, scratch.path());
  const GitProgram git(subject.top, scratch.path(), [&] { return guard.interrupted(); });
  const BisectPlan plan = plan_of(options);
  BisectNarrator narrator(subject.range, options.quiet, plan.looks);
  ArtifactBuilder builder(artifact_plan(options, subject, scratch.path(), guard, narrator));
  Journal journal = open_journal(options, subject);
  announce(options, subject, plan);
  const CommitMeasuring measuring{subject.inputs, subject.artifact, options.worker, options.differences,
                                  [&] { return guard.interrupted(); }};
  CommitPairs world(builder, git, measuring, narrator);
  BisectionResult result = run_bisection(subject.range, plan, world, journal);
  narrator.wipe();
  BisectReport report = report_of(options, subject, std::move(result));
  report.builds = world.builds();
  report.seed = plan.seed;
  report.took_s = monotonic_s() - begun_s;
  report.environment = world.environment();
  print_report(report, options);
  return exit_code(report.result);
}

}  // namespace

void setup_bisect(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<BisectOptions>();
  CLI::App* command = app.add_subcommand("bisect", "Find the commit that made it slower");
  add_bisect_options(*command, *options);
  command->footer(
      "Commits of the Git tree one stands in (else that of the config) are built one after another in a\n"
      "worktree of our own, and each is measured side by side with the good one; your tree, index and\n"
      "branches and a bisection by git stay as they are, and no hook runs. Measured is one file that the\n"
      "build makes: build/release/bin/flopmark-worker, or the config's own model or plug-in where that\n"
      "lies in the tree; --artifact names another. Equal bytes are not measured twice. A commit that cannot\n"
      "be built or measured is skipped.\n"
      "\n"
      "Exit codes: 0 found and confirmed, 125 not confirmed, not told between the commits listed, or\n"
      "good or bad cannot be built or measured, 204 bad is not slower than good here, 201 not comparable,\n"
      "130 interrupted (--resume goes on).\n"
      "\n"
      "Example:\n"
      "  flopmark bisect configs/quickstart.json --good v1.0 --bad HEAD --build 'make worker' --budget 2h");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return run_bisect(*options); }; });
}

}  // namespace flopmark
