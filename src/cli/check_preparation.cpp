#include "cli/check_preparation.h"

#include <fmt/format.h>

#include <map>
#include <system_error>

#include "cli/age_options.h"
#include "cli/terminal.h"
#include "cli/written_run.h"
#include "compare/measured_record.h"
#include "compare/stored_reason.h"
#include "flopmark/error.h"
#include "hardware/environment.h"
#include "launch/launch.h"
#include "report/shell_quoted.h"
#include "results/baseline_checks.h"
#include "results/git.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

/// The record as far as it is known now: config, tree and machine.
RunRecord expected_record(const RunConfig& config, const CheckOptions& options, const Store& store,
                          const Environment& worker_environment) {
  const RecordInputs inputs = describe_run(config, options.run, store);
  RunRecord expected = assemble_record(inputs);
  expected.environment = of_ranks(merge_environment(inputs.host, worker_environment), config.parallel.ranks);
  return expected;
}

std::optional<FoundRecord> read_if_there(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  return FoundRecord{read_record(path), display_path(path)};
}

/// A file, REF:NAME, or a name in the store, else a commit that holds the baseline of this hardware and
/// config.
FoundRecord named_baseline(const std::string& given, const PreparedCheck& check) {
  std::error_code ignored;
  const bool is_place = fs::exists(given, ignored) || given.find(':') != std::string::npos;
  if (is_place || given.ends_with(".json")) return find_record(given, check.store);
  try {
    return find_record(given, check.store);
  } catch (const Error& no_name) {
    const fs::path path = baseline_path(check.store, check.expected);
    try {
      return find_committed(given, path.string(), check.store);
    } catch (const Error& no_reference) {
      throw baseline_error(
          fmt::format("--baseline {}: neither a file or baseline ({}) nor a commit with one "
                      "({})",
                      given, no_name.what(), no_reference.what()));
    }
  }
}

[[noreturn]] void refuse_missing(const PreparedCheck& check) {
  const std::string config = shell_quoted(check.config.file.string());
  throw baseline_error(fmt::format(
      "{}: no baseline for this hardware and config ({}); save one with: flopmark run {} --save-baseline; or "
      "say what to do without one: --no-baseline save or pass",
      check.config.name, display_path(baseline_path(check.store, check.expected)), config));
}

/// What would be refused after measuring is refused before.
void check_saving(const PreparedCheck& check) {
  check_subject_for_saving(check.expected, {});
  check_launches_for_saving(check.config.name, static_cast<size_t>(check.config.measure.repeats), {});
  check_writable(baseline_path(check.store, check.expected));
}

void check_age(const PreparedCheck& check, const CheckOptions& options) {
  const std::string commit = check.expected.subject.commit.value_or("HEAD");
  const BaselineAge age = baseline_age(check.baseline->record, check.store.root, commit, check.expected.time);
  const Freshness fresh = freshness(age, options.age);
  if (fresh == Freshness::fresh) return;
  const std::string text = stale_text(check.baseline->source, age, options.age);
  // One that was named is meant, however old.
  if (fresh == Freshness::too_old && options.baseline.empty()) {
    throw baseline_error(text + " (or raise --stale-days, --stale-commits; 0: never)");
  }
  write_warning(text);
}

/// Whether `difference` is of something that only a run finds out.
bool is_not_known_yet(const EnvironmentDifference& difference) {
  return !difference.key.starts_with("config.") && (difference.b == "null" || difference.b == "not recorded");
}

/// Differences that refuse the comparison whatever is measured. Of the machine only those that always do:
/// the worker may find out more while it measures.
std::vector<EnvironmentDifference> sure_differences(const PreparedCheck& check,
                                                    const DifferenceOptions& options) {
  DifferenceOptions not_strict = options;
  not_strict.strict = false;
  auto sure = environment_differences(check.baseline->record, check.expected, not_strict);
  std::erase_if(sure, is_not_known_yet);
  if (!options.strict) return sure;
  for (EnvironmentDifference& difference : sure) {
    if (difference.key.starts_with("config.")) difference.kind = DifferenceClass::not_comparable;
  }
  return sure;
}

std::optional<StoredComparison> known_refusal(const PreparedCheck& check, const DifferenceOptions& options) {
  StoredComparison comparison;
  comparison.environment_differences = sure_differences(check, options);
  if (are_comparable(comparison.environment_differences)) return std::nullopt;
  comparison.verdict = Verdict::not_comparable;
  comparison.reason = stored_reason(comparison);
  return comparison;
}

void find_baselines(PreparedCheck& check, const CheckOptions& options) {
  if (!options.baseline.empty()) {
    check.baseline = named_baseline(options.baseline, check);
  } else {
    check.baseline = read_if_there(baseline_path(check.store, check.expected));
    check.anchor = read_if_there(baseline_path(check.store, check.expected, BaselineRole::anchor));
  }
  for (const auto& found : {check.baseline, check.anchor}) {
    if (found) require_measured(found->record, found->source, Side::reference);
  }
}

PreparedCheck prepare_check(const RunConfig& config, const CheckOptions& options,
                            const Environment& worker_environment) {
  PreparedCheck check;
  check.config = config;
  check.store = find_store(options.run.store, config.file);
  check.expected = expected_record(config, options, check.store, worker_environment);
  find_baselines(check, options);
  if (!check.baseline) {
    if (options.no_baseline == "fail") refuse_missing(check);
    if (options.no_baseline == "save") check_saving(check);
    return check;
  }
  check_age(check, options);
  check.refused = known_refusal(check, options.comparison.differences);
  return check;
}

void check_bisection(const std::vector<RunConfig>& configs, const CheckOptions& options) {
  if (!options.baseline.empty()) return;
  for (const RunConfig& config : configs) {
    const Store store = find_store(options.run.store, config.file);
    if (!is_bisecting(fs::absolute(config.file).parent_path()) && !is_bisecting(store.root)) continue;
    throw usage_error(
        "git bisect is under way, and every commit it checks out carries a baseline of its own: name the one "
        "to judge by with --baseline REF, such as the good commit");
  }
}

}  // namespace

std::vector<PreparedCheck> prepare_checks(const std::vector<RunConfig>& configs, const CheckOptions& options,
                                          const fs::path& worker) {
  check_bisection(configs, options);
  std::map<std::string, Environment> environments;  // by device: asking takes as long as LibTorch loads
  std::vector<PreparedCheck> checks;
  for (const RunConfig& config : configs) {
    auto known = environments.find(config.device);
    if (known == environments.end()) {
      known = environments.emplace(config.device, ask_worker_environment(worker, config.device)).first;
    }
    Environment expected = known->second;
    if (config.measure.threads > 0) expected.threads = config.measure.threads;  // not the worker's own choice
    checks.push_back(prepare_check(config, options, expected));
  }
  return checks;
}

}  // namespace flopmark
