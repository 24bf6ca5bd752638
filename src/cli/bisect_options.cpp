#include "cli/bisect_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <string_view>

#include "cli/ab_options.h"
#include "cli/option_checks.h"
#include "cli/run_output.h"
#include "flopmark/error.h"
#include "report/shell_quoted.h"

namespace flopmark {
namespace {

constexpr double kMostMidRatio = 0.99;  ///< `ab` takes ratios below 1; a larger change is beyond this one too

void add_range_options(CLI::App& command, BisectOptions& options) {
  command.add_option("CONFIG", options.config, "Config file, taken as it is now for every commit")
      ->type_name("FILE")
      ->required();
  command.add_option("--good", options.good, "A commit that is fast")->type_name("REF")->required();
  command.add_option("--bad", options.bad, "A later commit that is slow")->type_name("REF")->required();
  command.add_option("--build", options.build, "Shell command that builds a commit at the top of its tree")
      ->type_name("CMD")
      ->required()
      ->check(not_empty());
  command
      .add_option("--artifact", options.artifact,
                  "What the build makes and is measured: a worker, or a model (.pt)")
      ->type_name("PATH")
      ->check(not_empty());
  command.add_option("--path", options.path, "Only commits that changed this file or folder")
      ->type_name("PATH")
      ->check(not_empty());
  command.add_flag("--first-parent", options.first_parent, "Take a merge as one commit");
}

void add_measuring_options(CLI::App& command, BisectOptions& options) {
  command.add_option("--worker", options.worker, "The flopmark-worker, for an artifact that is a model")
      ->type_name("FILE")
      ->check(not_empty());
  command.add_option("--set", options.sets, "Change a key of the config; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--allow", options.differences.allow, "Compare although KEY differs; may be repeated")
      ->type_name("KEY")
      ->allow_extra_args(false);
  add_seed_option(command, options.seed);
}

void add_limit_options(CLI::App& command, BisectOptions& options) {
  command.add_option("--budget", options.budget, "Stop in time to end within 30m or 2h")
      ->type_name("TIME")
      ->check(not_empty());
  command.add_option("--build-timeout", options.build_timeout, "A build that takes longer is stopped")
      ->type_name("TIME")
      ->capture_default_str();
  command.add_option("--cache-size", options.cache_size, "Of what builds made, to keep: 500M, 10G")
      ->type_name("SIZE")
      ->capture_default_str();
  command.add_flag("--resume", options.resume, "Go on with a bisection that was interrupted or killed");
}

/// What says how a commit is built and measured, to whichever command.
std::string build_words(const BisectOptions& options) {
  std::string words = " --build " + shell_quoted(options.build);
  if (!options.artifact.empty()) words += " --artifact " + shell_quoted(options.artifact.string());
  for (const std::string& set : options.sets) words += " --set " + shell_quoted(set);
  for (const std::string& key : options.differences.allow) words += " --allow " + shell_quoted(key);
  return words;
}

/// The worker that loads the models: of side a, and b has it from there.
std::string worker_words(const BisectOptions& options) {
  return options.worker.empty() ? "" : " --a.worker " + shell_quoted(options.worker.string());
}

}  // namespace

void add_bisect_options(CLI::App& command, BisectOptions& options) {
  add_range_options(command, options);
  add_limit_options(command, options);
  add_measuring_options(command, options);
  command.add_option("--format", options.format, "Form of the report")
      ->check(CLI::IsMember({"table", "markdown", "json"}));
  command.add_option("--output", options.output, "Write the JSON report, every pair in it, here too")
      ->type_name("FILE")
      ->check(not_empty());
  command.add_flag("--force", options.force, "Overwrite --output");
  command.add_flag("--quiet", options.quiet, "No progress");
}

void check_bisect_options(const BisectOptions& options) {
  check_artifact(options.artifact);
  if (!options.budget.empty()) duration_s(options.budget, "--budget");
  duration_s(options.build_timeout, "--build-timeout");
  size_bytes(options.cache_size, "--cache-size");
  if (options.force && options.output.empty()) {
    throw usage_error("--force has no use without --output; leave it out");
  }
  check_record_path(options.output, options.force || options.resume);
}

int64_t size_bytes(const std::string& text, const std::string& option) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr std::string_view kUnits = "KMGT";
  const std::string unit(end, text.data() + text.size());
  const size_t power = unit.size() == 1 ? kUnits.find(unit[0]) : std::string_view::npos;
  const bool has_unit = power != std::string_view::npos;
  double bytes = value;
  for (size_t i = 0; has_unit && i <= power; ++i) bytes *= 1024;
  if (error != std::errc() || !(has_unit || unit.empty()) || !(bytes >= 1 && bytes < 1e18)) {
    throw usage_error(fmt::format("{} {}: is no size above 0, such as 500M or 10G", option, text));
  }
  return static_cast<int64_t>(bytes);
}

std::string bisect_line(const BisectOptions& options, const std::string& good, const std::string& bad) {
  std::string line = fmt::format("flopmark bisect {} --good {} --bad {}", shell_quoted(options.config),
                                 shell_quoted(good), shell_quoted(bad)) +
                     build_words(options);
  if (!options.path.empty()) line += " --path " + shell_quoted(options.path);
  if (options.first_parent) line += " --first-parent";
  if (!options.worker.empty()) line += " --worker " + shell_quoted(options.worker.string());
  if (!options.budget.empty()) line += " --budget " + shell_quoted(options.budget);
  if (options.build_timeout != BisectOptions{}.build_timeout) {
    line += " --build-timeout " + shell_quoted(options.build_timeout);
  }
  return line;
}

std::string ab_line(const BisectOptions& options, const std::string& a, const std::string& b) {
  return fmt::format("flopmark ab {} --a.ref {} --b.ref {}", shell_quoted(options.config), shell_quoted(a),
                     shell_quoted(b)) +
         build_words(options) + worker_words(options);
}

std::string git_bisect_line(const BisectOptions& options, const CommitRange& range, double mid_ratio) {
  return fmt::format("git bisect start {}{} {}{} && git bisect run flopmark ab {} --a.ref {}",
                     options.first_parent ? "--first-parent " : "", range.bad, range.good,
                     options.path.empty() ? "" : " -- " + shell_quoted(options.path),
                     shell_quoted(options.config), range.good) +
         build_words(options) + worker_words(options) +
         fmt::format(" --mid {:.4g}", std::min(mid_ratio, kMostMidRatio));
}

}  // namespace flopmark
