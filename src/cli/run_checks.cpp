#include "cli/run_checks.h"

#include <fmt/format.h>

#include <system_error>

#include "cli/option_checks.h"
#include "cli/run_output.h"
#include "hardware/environment.h"
#include "results/baseline_checks.h"
#include "results/git.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

struct GivenOption {
  const char* name;
  bool given;
};

std::vector<GivenOption> writing_options(const RunOptions& options) {
  return {{"--output", !options.output.empty()},
          {"--save-baseline", options.save_baseline},
          {"--store", !options.store.empty()},
          {"--worker", !options.worker.empty()},
          {"--force", options.force},
          {"--reason", !options.reason.empty()}};
}

void check_uses(const RunOptions& options) {
  for (const GivenOption& option : writing_options(options)) {
    if (options.dry_run && option.given) {
      throw usage_error(
          fmt::format("--dry-run starts nothing and writes nothing, so {} has no use; leave one of them out",
                      option.name));
    }
  }
  if (options.force && options.output.empty() && !options.save_baseline) {
    throw usage_error("--force has no use without --output or --save-baseline; leave it out");
  }
  if (!options.reason.empty() && !(options.save_baseline && options.force)) {
    throw usage_error("--reason has no use without --save-baseline and --force; leave it out");
  }
}

/// Of a GPU, only the worker knows the name, so that its present baseline is looked at after the run alone.
void check_baseline(const RunConfig& config, const RunOptions& options, const Store& store) {
  const SaveOptions save{options.force, options.reason};
  RunRecord expected;
  expected.name = config.name;
  expected.subject = inspect_tree(std::filesystem::absolute(config.file).parent_path());
  expected.environment = of_ranks(host_environment(), config.parallel.ranks);
  check_subject_for_saving(expected, save);
  check_launches_for_saving(config.name, static_cast<size_t>(config.measure.repeats), save);
  if (!trains_on_cpu(config)) return check_writable(store.baselines() / "README.md");
  check_present_baseline(store, expected, save);
  check_writable(baseline_path(store, expected));
}

}  // namespace

bool trains_on_cpu(const RunConfig& config) {
  std::error_code ignored;
  return config.device == "cpu" ||
         (config.device == "auto" && !std::filesystem::exists("/proc/driver/nvidia/version", ignored));
}

void check_output(const RunOptions& options) {
  if (!options.output.empty() && options.configs.size() > 1) {
    throw usage_error(
        "--output names one record, but there are several configs: leave it out, or run them one by one");
  }
  check_record_path(options.output, options.force);
}

void check_options(const RunOptions& options) {
  if (options.configs.empty()) throw usage_error("no config given; see flopmark run --help");
  check_uses(options);
  if (options.save_baseline && options.force && options.reason.empty()) {
    throw usage_error("--save-baseline --force needs --reason TEXT: it is stored with the baseline");
  }
  if (!options.dry_run) check_output(options);
}

void check_results(const std::vector<RunConfig>& configs, const RunOptions& options) {
  check_store_option(options.store, StoreUse::write);
  for (const RunConfig& config : configs) {
    const Store store = find_store(options.store, config.file);
    const std::filesystem::path usual = store.results() / config.name / "record.json";
    check_writable(options.output.empty() ? usual : options.output);
    if (options.save_baseline) check_baseline(config, options, store);
  }
}

}  // namespace flopmark
