#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "cli/run_command.h"
#include "config/run_config.h"
#include "flopmark/record.h"
#include "results/baseline_store.h"
#include "results/record_file.h"

namespace CLI {
class App;
}

namespace flopmark {

/// Adds what measuring takes: CONFIG, --set, --output, --store, --worker, --peaks, --quiet. `options` must
/// outlive the parsing.
void add_measuring_options(CLI::App& command, RunOptions& options);

/// The configs, each with --set applied and fitted to the job (rank_role.h). @throws Error 200.
std::vector<RunConfig> load_configs(const RunOptions& options);

/// What is known of a run before it starts. @throws Error 200: --peaks.
RecordInputs describe_run(const RunConfig& config, const RunOptions& options, const Store& store);

/// A run's record and where it was written.
struct WrittenRun {
  RunRecord record;
  std::filesystem::path path;
};
/// Measures one config, assembles the record and writes it; absent (and said so) if it was interrupted before
/// any step. @throws Error 202 if it cannot be written, after showing it; Error 200 from the worker.
std::optional<WrittenRun> measure_and_write(const RunConfig& config, const RunOptions& options,
                                            const std::filesystem::path& worker);

}  // namespace flopmark
