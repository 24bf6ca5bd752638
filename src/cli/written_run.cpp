#include "cli/written_run.h"

#include <CLI/CLI.hpp>

#include "cli/measured_run.h"
#include "cli/option_checks.h"
#include "cli/rank_role.h"
#include "cli/run_output.h"
#include "cli/terminal.h"
#include "hardware/environment.h"
#include "results/git.h"
#include "results/peak_files.h"

namespace flopmark {

void add_measuring_options(CLI::App& command, RunOptions& options) {
  command.add_option("CONFIG", options.configs, "Config files, measured in turn")->type_name("FILE");
  command.add_option("--set", options.sets, "Change a key of the config; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--output", options.output, "Write the record here; one config only")
      ->type_name("FILE")
      ->check(not_empty());
  command
      .add_option("--store", options.store, "Folder of results/ and baselines/; made if its parent exists")
      ->type_name("DIR")
      ->check(not_empty());
  command.add_option("--worker", options.worker, "The flopmark-worker to start")
      ->type_name("FILE")
      ->check(not_empty());
  command.add_option("--peaks", options.peaks, "Rows that add to or replace the built-in peak table")
      ->type_name("FILE")
      ->check(not_empty());
  command.add_flag("--quiet", options.quiet, "No progress");
}

std::vector<RunConfig> load_configs(const RunOptions& options) {
  std::vector<RunConfig> configs;
  for (const std::string& file : options.configs) configs.push_back(load_config_for_job(file, options));
  return configs;
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

std::optional<WrittenRun> measure_and_write(const RunConfig& config, const RunOptions& options,
                                            const std::filesystem::path& worker) {
  const Store store = find_store(options.store, config.file);
  RecordInputs inputs = describe_run(config, options, store);
  run_launches(inputs, {worker, options.quiet, options.place});
  if (inputs.interrupted && !has_timed_steps(inputs)) {
    write_error(config.name + ": interrupted before any step was measured; nothing was written");
    return std::nullopt;
  }
  WrittenRun run{assemble_record(inputs), {}};
  run.path = options.output.empty() ? record_path(store, run.record) : options.output;
  try {
    write_record(run.record, run.path, options.force);
  } catch (const Error&) {
    print_unwritten(run.record);
    throw;
  }
  return run;
}

}  // namespace flopmark
