#include "cli/check_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "cli/age_options.h"
#include "cli/baseline_saving.h"
#include "cli/check_confirmation.h"
#include "cli/check_preparation.h"
#include "cli/commands.h"
#include "cli/option_checks.h"
#include "cli/rank_role.h"
#include "cli/run_checks.h"
#include "cli/run_output.h"
#include "cli/sitting_keeping.h"
#include "cli/terminal.h"
#include "cli/written_run.h"
#include "launch/launch.h"
#include "report/check_report.h"
#include "report/summary.h"

namespace flopmark {
namespace {

/// Of several configs the gravest decides: what stops a bisection, then slower, then what cannot be judged.
constexpr std::array kGravest{ExitCode::interrupted,    ExitCode::usage,  ExitCode::baseline,
                              ExitCode::not_comparable, ExitCode::slower, ExitCode::interference,
                              ExitCode::cannot_judge,   ExitCode::ok};

ExitCode gravest_code(const std::vector<CheckResult>& results) {
  for (const ExitCode code : kGravest) {
    for (const CheckResult& result : results) {
      if (result.code == code) return code;
    }
  }
  return ExitCode::ok;
}

void check_combination(const CheckOptions& options) {
  check_output(options.run);
  check_confirm_options(options);
  if (options.run.force && options.run.output.empty()) {
    throw usage_error("--force has no use without --output; leave it out");
  }
  if (options.keep_sitting && !options.baseline.empty()) {
    throw usage_error("--keep-sitting is of the store's own baseline; leave out --baseline");
  }
  if (!options.baseline.empty() && options.no_baseline != "fail") {
    throw usage_error("--no-baseline has no use with --baseline, which must be there; leave one of them out");
  }
}

CheckResult refused_result(const PreparedCheck& check) {
  CheckResult result;
  result.name = check.config.name;
  result.candidate = {check.expected, check.config.file};
  result.measured = false;
  result.baseline = Judgement{*check.baseline, *check.refused};
  result.code = ExitCode::not_comparable;
  return result;
}

std::optional<Judgement> judged_by(const std::optional<FoundRecord>& reference, const FoundRecord& candidate,
                                   const CheckOptions& options, const Store& store) {
  if (!reference) return std::nullopt;
  return Judgement{*reference, judge(*reference, candidate, options.comparison.differences, store)};
}

ExitCode code_of(const CheckResult& result, const CheckOptions& options) {
  const auto verdict = verdict_of(result);
  if (!verdict || (*verdict == Verdict::unsure && options.undecided == "pass")) return ExitCode::ok;
  const Judgement* deciding = deciding_judgement(result);
  return result.confirmation || deciding == nullptr ? exit_code(*verdict) : exit_code(deciding->comparison);
}

/// Without a baseline there is no verdict: the first run becomes it, or passes.
void settle_without_baseline(CheckResult& result, const PreparedCheck& check, const CheckOptions& options) {
  result.remark = "no baseline to judge by; passed (--no-baseline pass)";
  if (options.no_baseline != "save") return;
  write_note(save_as_baseline(check.store, result.candidate.record, {}));
  result.remark = "no baseline to judge by: this run is the first one, and saved as it";
}

/// The verdict does not depend on it.
void keep(const CheckResult& result, const PreparedCheck& check) {
  try {
    write_note(keep_sitting(check.store, std::filesystem::absolute(check.config.file).parent_path(),
                            *check.baseline, result.candidate.record, result.baseline->comparison));
  } catch (const Error& error) {
    write_warning(error.what());
  }
}

void judge_result(CheckResult& result, const PreparedCheck& check, const CheckOptions& options) {
  try {
    result.baseline = judged_by(check.baseline, result.candidate, options, check.store);
    result.anchor = judged_by(check.anchor, result.candidate, options, check.store);
  } catch (const Error& error) {  // the run: the baselines were looked at before
    result.remark = error.what();
    result.code = error.code();
    return;
  }
  if (!check.baseline) settle_without_baseline(result, check, options);
  if (check.baseline && options.keep_sitting) {
    keep(result, check);
  }
  result.code = code_of(result, options);
  confirm(result, check.config.file, options);
}

/// Measures one config and judges it.
CheckResult run_one_check(const PreparedCheck& check, const CheckOptions& options,
                          const std::filesystem::path& worker) {
  CheckResult result;
  result.name = check.config.name;
  const std::optional<WrittenRun> run = measure_and_write(check.config, options.run, worker);
  result.measured = run.has_value();
  if (run) result.candidate = {run->record, display_path(run->path)};
  if (!run || run->record.status == "incomplete") {
    result.remark = "interrupted: not judged";
    result.code = ExitCode::interrupted;
  } else if (run->record.status != "ok") {
    const auto& failure = run->record.failure;
    result.remark =
        failure ? "not judged: " + failure_text(*failure) : "not judged: its status is " + run->record.status;
    result.code = ExitCode::cannot_judge;
  } else {
    judge_result(result, check, options);
  }
  return result;
}

bool is_table(const CheckOptions& options) {
  return options.comparison.format == "table";
}

/// A table is shown as far as it is known; documents are whole.
void add_result(std::vector<CheckResult>& results, CheckResult result, const CheckOptions& options) {
  if (is_table(options)) write_output((results.empty() ? "" : "\n") + check_text(result));
  results.push_back(std::move(result));
}

ExitCode finish(const std::vector<CheckResult>& results, const CheckOptions& options) {
  const ExitCode code = gravest_code(results);
  if (options.comparison.format == "json") write_output(check_json(results, code));
  if (options.comparison.format == "markdown") write_output(check_markdown(results));
  return code;
}

/// The part of the first rank, or of the only one.
ExitCode judge_all(const std::vector<RunConfig>& configs, const CheckOptions& options,
                   const std::filesystem::path& worker) {
  check_results(configs, options.run);
  const std::vector<PreparedCheck> checks = prepare_checks(configs, options, worker);
  std::vector<CheckResult> results;
  for (const PreparedCheck& check : checks) {
    if (check.refused) add_result(results, refused_result(check), options);
  }
  if (!results.empty()) return finish(results, options);
  for (const PreparedCheck& check : checks) {
    add_result(results, run_one_check(check, options, worker), options);
    if (results.back().code == ExitCode::interrupted) break;
  }
  return finish(results, options);
}

ExitCode run_check(const CheckOptions& options) {
  check_combination(options);
  if (options.confirm) refuse_launcher("flopmark check --confirm");
  CheckOptions of_job = options;
  of_job.run.place = enter_job(options.run);
  const std::vector<RunConfig> configs = load_configs(of_job.run);
  const std::filesystem::path worker = find_worker(options.run.worker);
  if (is_other_rank(of_job.run.place)) return measure_as_other_rank(configs, of_job.run, worker);
  return judge_all(configs, of_job, worker);
}

void add_judging_options(CLI::App& command, CheckOptions& options) {
  command
      .add_option("--baseline", options.baseline,
                  "Judge by this: a record, a name, REF:NAME, or the one in REF")
      ->type_name("FILE|NAME|REF")
      ->check(not_empty());
  command.add_option("--undecided", options.undecided, "What a verdict of unsure is")
      ->capture_default_str()
      ->check(CLI::IsMember({"pass", "fail"}));
  command.add_option("--no-baseline", options.no_baseline, "What to do where there is none")
      ->capture_default_str()
      ->check(CLI::IsMember({"fail", "save", "pass"}));
  command.add_flag("--keep-sitting", options.keep_sitting,
                   "Keep this run of the baseline's own build, for its tolerance");
  add_comparison_options(command, options.comparison);
  add_confirm_options(command, options);
  add_age_options(command, options.age);
  command.add_flag("--force", options.run.force, "Overwrite --output");
}

}  // namespace

void setup_check(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "Measure and judge against the committed baseline");
  add_measuring_options(*command, options->run);
  command->get_option("CONFIG")->required();
  add_judging_options(*command, *options);
  command->footer(
      "Judges by baselines/<hardware>/<name>.json, and by the anchor beside it. A stored baseline\n"
      "finds large changes only, unconfirmed; the text has the flopmark ab line that confirms, and\n"
      "--confirm goes on to it: verdict and exit code are then its own. Nothing is saved on a pass.\n"
      "\n"
      "Exit codes: 0 not slower, 1 slower, 125 undecided or the run failed, 201 not comparable,\n"
      "202 no baseline, or too old (twice --stale-days or --stale-commits), 203 too much interference\n"
      "(--confirm). Under git bisect --baseline is required (200).\n"
      "\n"
      "Examples:\n"
      "  flopmark check configs/quickstart.json\n"
      "  flopmark check configs/quickstart.json --baseline main --undecided pass --format markdown\n"
      "  flopmark check configs/quickstart.json --confirm --build 'make worker' --budget 30m");
  command->callback([options, &invocation] {
    options->run.command_line = invocation.command_line;
    invocation.action = [options] { return run_check(*options); };
  });
}

}  // namespace flopmark
