#include "cli/ab_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "cli/option_checks.h"
#include "cli/run_output.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

/// Time and memory of the exact test grow with its cube and square.
constexpr size_t kMostPairs = 256;

constexpr double kMostTime_s = 366 * 86400.0;

void add_side_options(CLI::App& command, const std::string& side, AbSideOptions& options) {
  const std::string of = "--" + side + ".";
  command.add_option(of + "worker", options.worker, "The flopmark-worker of side " + side)
      ->type_name("FILE")
      ->check(not_empty());
  command.add_option(of + "ref", options.reference, "Side " + side + " is this commit, built with --build")
      ->type_name("REF")
      ->check(not_empty());
  command.add_option(of + "set", options.sets, "--set for side " + side + " only; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      .add_option(of + "env", options.environment,
                  "Environment variable of side " + side + "; may be repeated")
      ->type_name("K=V")
      ->allow_extra_args(false);
}

void check_side(const AbSideOptions& side, const std::string& name, const AbOptions& options) {
  variables_of(side.environment, "--" + name + ".env");
  if (!side.reference.empty() && options.build.empty()) {
    throw usage_error(fmt::format(
        "--{}.ref {} needs --build CMD: how that commit is built, such as --build 'scripts/setup && cmake "
        "--workflow --preset release'",
        name, side.reference));
  }
}

void check_ab_build(const AbOptions& options) {
  const bool has_reference = !options.a.reference.empty() || !options.b.reference.empty();
  if (!options.build.empty() && !has_reference) {
    throw usage_error("--build has no use without --a.ref or --b.ref: name the commit to compare with");
  }
  if (!options.artifact.empty() && !has_reference) {
    throw usage_error("--artifact has no use without --a.ref or --b.ref; leave it out");
  }
  check_artifact(options.artifact);
}

void check_ab_judge(const AbOptions& options) {
  if (options.mid_ratio && !(std::abs(*options.mid_ratio) < 1)) {
    throw usage_error(
        fmt::format("--mid {}: is a ratio, between -1 and 1: 0.025 is 2.5 %", *options.mid_ratio));
  }
  JudgeRule one_look = ab_rule(options);
  one_look.looks = {options.max_pairs};
  const size_t least = least_decisive_pairs(one_look, options.configs.size());
  if (options.max_pairs < least || options.max_pairs > kMostPairs) {
    throw usage_error(
        fmt::format("--max-pairs {}: from {} (fewer pairs are never decisive, whatever they show) to {}",
                    options.max_pairs, least, kMostPairs));
  }
  if (!options.budget.empty()) duration_s(options.budget, "--budget");
}

}  // namespace

void add_ab_options(CLI::App& command, AbOptions& options) {
  command.add_option("CONFIG", options.configs, "Config files, judged together")
      ->type_name("FILE")
      ->required();
  add_side_options(command, "a", options.a);
  add_side_options(command, "b", options.b);
  command.add_option("--build", options.build, "Shell command that builds a commit at the top of its tree")
      ->type_name("CMD")
      ->check(not_empty());
  command
      .add_option("--artifact", options.artifact,
                  "What the build makes: a worker, or a model (.pt); see below")
      ->type_name("PATH")
      ->check(not_empty());
  command.add_option("--set", options.sets, "Change a key of the config on both sides; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--mid", options.mid_ratio, "Judge against this change instead of 0: 0.025 for 2.5 %")
      ->type_name("R")
      ->check(ratio());
  command.add_option("--budget", options.budget, "Stop in time to end within 90s, 30m or 2h")
      ->type_name("TIME")
      ->check(not_empty());
  command
      .add_option("--max-pairs", options.max_pairs, "Pairs per config at most; looks at 12, 16, 24, 40, 64")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--format", options.format, "Form of the report")
      ->check(CLI::IsMember({"table", "markdown", "json"}));
  command.add_option("--output", options.output, "Write the JSON report, every pair in it, here too")
      ->type_name("FILE")
      ->check(not_empty());
  command.add_flag("--force", options.force, "Overwrite --output");
  command.add_option("--allow", options.differences.allow, "Compare although KEY differs; may be repeated")
      ->type_name("KEY")
      ->allow_extra_args(false);
  command.add_option("--peaks", options.peaks, "Rows that add to or replace the built-in peak table")
      ->type_name("FILE")
      ->check(not_empty());
  command.add_option("--store", options.store, "Folder of baselines/, where calibrations are kept")
      ->type_name("DIR")
      ->check(not_empty());
  add_seed_option(command, options.seed);
  command.add_flag("--quiet", options.quiet, "No progress");
}

void check_ab_options(const AbOptions& options) {
  for (size_t i = 0; i < options.configs.size(); ++i) {
    const auto named_before = options.configs.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(options.configs.begin(), named_before, options.configs[i]) != named_before) {
      throw usage_error(fmt::format("{}: is named twice; name each config once", options.configs[i]));
    }
  }
  check_side(options.a, "a", options);
  check_side(options.b, "b", options);
  check_ab_build(options);
  check_ab_judge(options);
  if (options.force && options.output.empty()) {
    throw usage_error("--force has no use without --output; leave it out");
  }
  check_store_option(options.store, StoreUse::read);
  check_record_path(options.output, options.force);
}

void check_artifact(const std::filesystem::path& artifact) {
  const auto climbs = [](const std::filesystem::path& part) { return part == ".."; };
  const bool is_inside =
      !artifact.is_absolute() && std::find_if(artifact.begin(), artifact.end(), climbs) == artifact.end();
  if (is_inside && (artifact.empty() || artifact.lexically_normal().has_filename())) return;
  throw usage_error(fmt::format(
      "--artifact {}: is relative to the top of the tree that is built, and lies in it", artifact.string()));
}

double duration_s(const std::string& text, const std::string& option) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(end, text.data() + text.size());
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  const double result_s = value * scale;
  if (error != std::errc() || !(result_s > 0) || !(result_s <= kMostTime_s)) {
    throw usage_error(
        fmt::format("{} {}: is no time above 0 and up to a year, such as 90s, 30m or 2h", option, text));
  }
  return result_s;
}

std::vector<std::pair<std::string, std::string>> variables_of(const std::vector<std::string>& texts,
                                                              const std::string& option) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw usage_error(fmt::format("{} {}: is not NAME=VALUE, such as OMP_NUM_THREADS=2", option, text));
    }
    variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

JudgeRule ab_rule(const AbOptions& options) {
  JudgeRule rule;
  rule.looks = looks_up_to(options.max_pairs);
  rule.mid_ratio = options.mid_ratio;
  return rule;
}

}  // namespace flopmark
