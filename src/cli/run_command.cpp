#include "cli/run_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/measured_run.h"
#include "cli/option_checks.h"
#include "cli/run_checks.h"
#include "cli/run_output.h"
#include "cli/terminal.h"
#include "config/run_config.h"
#include "hardware/environment.h"
#include "report/dry_run.h"
#include "results/baseline_store.h"
#include "results/git.h"
#include "results/peak_files.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

ExitCode print_config_help(const RunOptions& options) {
  write_output(options.format == "schema" ? config_schema().dump(2) + "\n" : config_help());
  return ExitCode::ok;
}

std::vector<RunConfig> load_configs(const RunOptions& options) {
  std::vector<RunConfig> configs;
  for (const std::string& file : options.configs) configs.push_back(load_config(file, options.sets));
  return configs;
}

ExitCode print_dry_runs(const std::vector<RunConfig>& configs, const RunOptions& options) {
  for (const RunConfig& config : configs) {
    const nlohmann::json document = dry_run(config);
    write_output(document.dump(2) + "\n");
    if (!options.quiet) write_note(config.name + "\n" + dry_run_text(document));
  }
  return ExitCode::ok;
}

RecordInputs describe_run(const RunConfig& config, const RunOptions& options, const Store& store) {
  RecordInputs inputs;
  inputs.peaks = load_peak_sources(options.peaks);
  inputs.config = config;
  inputs.subject = inspect_tree(std::filesystem::absolute(config.file).parent_path());
  inputs.host = host_environment();
  inputs.command_line = options.command_line;
  inputs.store_root = store.root;
  return inputs;
}

/// One config from start to end: measure, assemble, write, show, save.
ExitCode measure_config(const RunConfig& config, const RunOptions& options,
                        const std::filesystem::path& worker) {
  const Store store = find_store(options.store, config.file);
  RecordInputs inputs = describe_run(config, options, store);
  run_launches(inputs, {worker, options.quiet});
  if (inputs.interrupted && !has_timed_steps(inputs)) {
    write_error(config.name + ": interrupted before any step was measured; nothing was written");
    return ExitCode::interrupted;
  }
  const RunRecord record = assemble_record(inputs);
  const std::filesystem::path path = options.output.empty() ? record_path(store, record) : options.output;
  try {
    write_record(record, path, options.force);
  } catch (const Error&) {
    print_unwritten(record);
    throw;
  }
  print_result(record, path, {store, !options.save_baseline});
  if (record.status == "failed") return ExitCode::cannot_judge;
  if (record.status == "incomplete") return ExitCode::interrupted;
  if (options.save_baseline) save_as_baseline(store, record, {options.force, options.reason});
  return ExitCode::ok;
}

ExitCode measure_all(const std::vector<RunConfig>& configs, const RunOptions& options) {
  const std::filesystem::path worker = find_worker(options.worker);
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
  const std::vector<RunConfig> configs = load_configs(options);
  if (options.dry_run) return print_dry_runs(configs, options);
  return measure_all(configs, options);
}

void setup_run(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Measure training steps and write the record");
  command->add_option("CONFIG", options->configs, "Config files, measured in turn")->type_name("FILE");
  command->add_option("--set", options->sets, "Change a key of the config; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--output", options->output, "Write the record here; one config only")
      ->type_name("FILE")
      ->check(not_empty());
  command->add_flag("--save-baseline", options->save_baseline, "Save the record as the baseline, too");
  command->add_flag("--force", options->force, "Overwrite --output; save a baseline from a dirty tree");
  command->add_option("--reason", options->reason, "Why --force is right; stored in the baseline")
      ->type_name("TEXT")
      ->check(not_empty());
  command
      ->add_option("--store", options->store, "Folder of results/ and baselines/; made if its parent exists")
      ->type_name("DIR")
      ->check(not_empty());
  command->add_option("--worker", options->worker, "The flopmark-worker to start")
      ->type_name("FILE")
      ->check(not_empty());
  command->add_option("--peaks", options->peaks, "Rows that add to or replace the built-in peak table")
      ->type_name("FILE")
      ->check(not_empty());
  command->add_flag("--quiet", options->quiet, "No progress");
  command->add_flag("--dry-run", options->dry_run, "Print resolved config, FLOPs and memory; start nothing");
  CLI::Option* help = command->add_flag("--help-config", options->help_config, "Print every key of a config");
  command->add_option("--format", options->format, "Form of --help-config")
      ->check(CLI::IsMember({"text", "schema"}))
      ->needs(help);
  command->footer(
      "Examples:\n"
      "  flopmark run configs/quickstart.json\n"
      "  flopmark run configs/quickstart.json --set train.precision=bf16 --set measure.steps=100\n"
      "  flopmark run configs/quickstart.json --dry-run");
  command->callback([options, &invocation] {
    options->command_line = invocation.command_line;
    invocation.action = [options] { return run_run(*options); };
  });
}

}  // namespace flopmark
