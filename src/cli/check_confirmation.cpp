#include "cli/check_confirmation.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/ab_command.h"
#include "cli/option_checks.h"
#include "cli/terminal.h"

namespace flopmark {
namespace {

constexpr size_t kRefDigits = 10;

/// The checked-out tree, or the worker that was measured, against `commit`.
AbOptions sides_of(const std::string& config, const std::string& commit, const CheckOptions& options) {
  AbOptions ab = options.ab;
  ab.configs = {config};
  ab.sets = options.run.sets;
  ab.sets.emplace_back("measure.loader=normal");  // both: the second pass is the check's own
  ab.a.reference = commit;
  ab.b.worker = options.run.worker;
  ab.store = options.run.store;
  ab.peaks = options.run.peaks;
  ab.quiet = options.run.quiet;
  ab.differences.allow = options.comparison.differences.allow;
  return ab;
}

/// Not settled is no failure.
ExitCode code_of(const PairedResult& result, const CheckOptions& options) {
  const ExitCode code = exit_code(result);
  const bool undecided = code == ExitCode::cannot_judge && result.end != PairedEnd::failed;
  return undecided && options.undecided == "pass" ? ExitCode::ok : code;
}

}  // namespace

void add_confirm_options(CLI::App& command, CheckOptions& options) {
  command.add_flag("--confirm", options.confirm,
                   "Settle slower and unsure by flopmark ab against the baseline's commit");
  command
      .add_option("--build", options.ab.build, "Of --confirm: shell command that builds a commit in its tree")
      ->type_name("CMD")
      ->check(not_empty());
  command
      .add_option("--artifact", options.ab.artifact, "Of --confirm: what the build makes, as in flopmark ab")
      ->type_name("PATH")
      ->check(not_empty());
  command
      .add_option("--budget", options.ab.budget, "Of --confirm: stop in time to end within 90s, 30m or 2h")
      ->type_name("TIME")
      ->check(not_empty());
}

void check_confirm_options(const CheckOptions& options) {
  const AbOptions& ab = options.ab;
  if (options.confirm && ab.build.empty()) {
    throw usage_error(
        "--confirm needs --build CMD: how the baseline's commit is built, such as --build 'scripts/setup && "
        "cmake --workflow --preset release'");
  }
  if (options.confirm) return check_ab_options(sides_of(options.run.configs.front(), "HEAD", options));
  if (!ab.build.empty() || !ab.artifact.empty() || !ab.budget.empty()) {
    throw usage_error("--build, --artifact and --budget have no use without --confirm; leave them out");
  }
}

void confirm(CheckResult& result, const std::filesystem::path& config, const CheckOptions& options) {
  const Judgement* deciding = options.confirm ? deciding_judgement(result) : nullptr;
  if (!deciding || !deciding->comparison.unconfirmed) return;
  const Subject& subject = deciding->reference.record.subject;
  if (!subject.commit || subject.dirty.value_or(true)) {
    result.no_confirmation =
        fmt::format("{} names no commit that could be built", deciding->reference.source);
    return;
  }
  write_note(fmt::format("{}: {} by stored records; measuring both builds side by side", result.name,
                         to_text(deciding->comparison.verdict)));
  try {
    result.confirmation =
        compare_sides(sides_of(config.string(), subject.commit->substr(0, kRefDigits), options)).front();
    result.code = code_of(result.confirmation->result, options);
  } catch (const Error& error) {
    result.no_confirmation = error.what();
    result.code = error.code();
  }
}

}  // namespace flopmark
