#include "cli/run_command.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/baseline_saving.h"
#include "cli/commands.h"
#include "cli/option_checks.h"
#include "cli/rank_role.h"
#include "cli/run_checks.h"
#include "cli/run_output.h"
#include "cli/scaling_run.h"
#include "cli/terminal.h"
#include "cli/written_run.h"
#include "config/run_config.h"
#include "launch/launch.h"
#include "report/dry_run.h"
#include "results/baseline_store.h"

namespace flopmark {
namespace {

ExitCode print_config_help(const RunOptions& options) {
  write_output(options.format == "schema" ? config_schema().dump(2) + "\n" : config_help());
  return ExitCode::ok;
}

ExitCode print_dry_runs(const std::vector<RunConfig>& configs, const RunOptions& options) {
  for (const RunConfig& config : configs) {
    const nlohmann::json document = dry_run(config);
    write_output(document.dump(2) + "\n");
    if (!options.quiet) write_note(config.name + "\n" + dry_run_text(document));
  }
  return ExitCode::ok;
}

/// One config from start to end: measure, write, show, save.
ExitCode measure_config(const RunConfig& config, const RunOptions& options,
                        const std::filesystem::path& worker) {
  const std::optional<WrittenRun> run = measure_and_write(config, options, worker);
  if (!run) return ExitCode::interrupted;
  const Store store = find_store(options.store, config.file);
  print_result(run->record, run->path, {store, !options.save_baseline});
  if (run->record.status == "failed") return ExitCode::cannot_judge;
  if (run->record.status == "incomplete") return ExitCode::interrupted;
  if (options.save_baseline) {
    write_output(save_as_baseline(store, run->record, {options.force, options.reason}));
  }
  return ExitCode::ok;
}

ExitCode measure_all(const std::vector<RunConfig>& configs, const RunOptions& options) {
  const std::filesystem::path worker = find_worker(options.worker);
  if (is_other_rank(options.place)) return measure_as_other_rank(configs, options, worker);
  check_results(configs, options);
  ExitCode result = ExitCode::ok;
  for (const RunConfig& config : configs) {
    const ExitCode code = measure_config(config, options, worker);
    if (code == ExitCode::interrupted) return code;
    if (result == ExitCode::ok) result = code;
  }
  return result;
}

}  // namespace

ExitCode run_run(const RunOptions& options) {
  if (options.help_config) return print_config_help(options);
  check_options(options);
  if (options.dry_run && !options.scaling) return print_dry_runs(load_configs(options), options);
  if (options.scaling) {
    refuse_launcher("flopmark run --scaling");
    return run_scaling(options);
  }
  RunOptions of_job = options;
  of_job.place = enter_job(options);
  return measure_all(load_configs(of_job), of_job);
}

void setup_run(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Measure training steps and write the record");
  add_measuring_options(*command, *options);
  command->add_flag("--save-baseline", options->save_baseline, "Save the record as the baseline, too");
  command->add_flag("--force", options->force, "Overwrite --output; save a baseline against a refusal");
  command->add_option("--reason", options->reason, "Why --force is right; stored in the baseline")
      ->type_name("TEXT")
      ->check(not_empty());
  command
      ->add_option("--scaling", options->scaling,
                   "Measure with each of these numbers of ranks; compare throughput")
      ->type_name("N,N");
  command->add_flag("--dry-run", options->dry_run, "Print resolved config, FLOPs and memory; start nothing");
  CLI::Option* help = command->add_flag("--help-config", options->help_config, "Print every key of a config");
  command->add_option("--format", options->format, "Form of --help-config")
      ->check(CLI::IsMember({"text", "schema"}))
      ->needs(help);
  command->footer(
      "Examples:\n"
      "  flopmark run configs/quickstart.json\n"
      "  flopmark run configs/quickstart.json --set train.precision=bf16 --set measure.steps=100\n"
      "  flopmark run configs/quickstart.json --scaling 1,2\n"
      "  flopmark run configs/quickstart.json --dry-run");
  command->callback([options, &invocation] {
    options->command_line = invocation.command_line;
    invocation.action = [options] { return run_run(*options); };
  });
}

}  // namespace flopmark
