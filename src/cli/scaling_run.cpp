#include "cli/scaling_run.h"

#include <fmt/format.h>

#include "cli/run_checks.h"
#include "cli/run_output.h"
#include "cli/terminal.h"
#include "cli/written_run.h"
#include "config/run_config.h"
#include "launch/launch.h"
#include "report/scaling_table.h"

namespace flopmark {
namespace {

constexpr const char* kRanksKey = "parallel.ranks=";

void check_counts(const std::vector<int64_t>& counts) {
  if (counts.size() < 2) {
    throw usage_error("--scaling needs at least two numbers of ranks to compare, such as --scaling 1,2,4");
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    if (i > 0 && counts[i] <= counts[i - 1]) {
      throw usage_error(fmt::format("--scaling: {} follows {}; give the numbers of ranks in ascending order",
                                    counts[i], counts[i - 1]));
    }
  }
}

void check_scaling_uses(const RunOptions& options) {
  const std::pair<const char*, bool> one_record[] = {{"--output", !options.output.empty()},
                                                     {"--save-baseline", options.save_baseline},
                                                     {"--dry-run", options.dry_run}};
  for (const auto& [name, is_given] : one_record) {
    if (!is_given) continue;
    throw usage_error(fmt::format(
        "{} is of one run, and --scaling makes one for each number of ranks; leave one of them out", name));
  }
  for (const std::string& set : options.sets) {
    if (!set.starts_with(kRanksKey)) continue;
    throw usage_error(
        fmt::format("--set {} and --scaling both say how many ranks; leave one of them out", set));
  }
}

/// `file` with each number of ranks. @throws Error 200: also for a number that no job can have.
std::vector<RunConfig> scaled_configs(const std::string& file, const RunOptions& options) {
  std::vector<RunConfig> configs;
  for (const int64_t count : options.scaling) {
    std::vector<std::string> sets = options.sets;
    sets.push_back(kRanksKey + std::to_string(count));
    configs.push_back(load_config(file, sets));
  }
  return configs;
}

/// One config with every number of ranks; stops at the first run that is not whole.
ExitCode measure_scaling(const std::vector<RunConfig>& configs, const RunOptions& options,
                         const std::filesystem::path& worker) {
  std::vector<RunRecord> records;
  ExitCode result = ExitCode::ok;
  for (const RunConfig& config : configs) {
    if (!options.quiet) write_note(fmt::format("{}: parallel.ranks {}", config.name, config.parallel.ranks));
    std::optional<WrittenRun> run = measure_and_write(config, options, worker);
    if (!run) return ExitCode::interrupted;
    const std::string& status = run->record.status;
    if (status == "failed" || status == "incomplete") {
      print_result(run->record, run->path, {});
      result = status == "failed" ? ExitCode::cannot_judge : ExitCode::interrupted;
      break;
    }
    if (status == "invalid") write_warning(run->record.warnings.front().text);
    write_note("record: " + display_path(run->path));
    records.push_back(std::move(run->record));
  }
  if (!records.empty()) write_output(scaling_table(records));
  return result;
}

}  // namespace

ExitCode run_scaling(const RunOptions& options) {
  check_counts(options.scaling);
  check_scaling_uses(options);
  std::vector<std::vector<RunConfig>> all;
  for (const std::string& file : options.configs) all.push_back(scaled_configs(file, options));
  const std::filesystem::path worker = find_worker(options.worker);
  for (const std::vector<RunConfig>& configs : all) check_results(configs, options);
  ExitCode result = ExitCode::ok;
  for (const std::vector<RunConfig>& configs : all) {
    const ExitCode code = measure_scaling(configs, options, worker);
    if (code == ExitCode::interrupted) return code;
    if (result == ExitCode::ok) result = code;
  }
  return result;
}

}  // namespace flopmark
