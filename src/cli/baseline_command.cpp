#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/age_options.h"
#include "cli/baseline_saving.h"
#include "cli/commands.h"
#include "cli/comparison_output.h"
#include "cli/option_checks.h"
#include "cli/terminal.h"
#include "report/summary.h"
#include "results/baseline_store.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

struct BaselineOptions {
  std::filesystem::path record, store;
  std::string baseline;  ///< name, hardware/name or file
  SaveOptions save;
  std::string reference = "HEAD";  ///< of diff
  ComparisonOptions comparison;
  std::string role = "rolling";
  AgeLimits age;
};

/// The store of the folder one stands in, unless given.
Store store_here(const std::filesystem::path& given) {
  check_store_option(given, StoreUse::read);
  return find_store(given, std::filesystem::current_path() / "config.json");
}

ExitCode run_baseline_save(const BaselineOptions& options) {
  SaveOptions save = options.save;
  if (options.role == "anchor") save.role = BaselineRole::anchor;
  const bool is_anchor = save.role == BaselineRole::anchor;
  if (save.force && save.reason.empty()) {
    throw usage_error("--force needs --reason TEXT: it is stored with the baseline");
  }
  if (is_anchor && save.reason.empty()) {
    throw usage_error("--role anchor needs --reason TEXT: it is stored with the anchor");
  }
  if (!save.force && !is_anchor && !save.reason.empty()) {
    throw usage_error("--reason has no use without --force or --role anchor; leave it out");
  }
  check_store_option(options.store, StoreUse::write);
  const RunRecord record = read_record(options.record);
  write_output(
      save_as_baseline(find_store(options.store, std::filesystem::absolute(options.record)), record, save));
  return ExitCode::ok;
}

/// A merge may have left the table in pieces, and whoever looks at baselines should find it right. Where it
/// cannot be written, what was asked for is shown all the same.
void refresh_table(const Store& store) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(store.baselines(), ignored)) return;
  try {
    write_baselines_readme(store);
  } catch (const Error& error) {
    write_warning(fmt::format("the table of baselines is as it was: {}", error.what()));
  }
}

/// Only the rolling ones: an anchor is meant to be old.
void warn_of_stale(const Store& store, const std::vector<StoredBaseline>& baselines,
                   const AgeLimits& limits) {
  for (const StoredBaseline& baseline : baselines) {
    if (role_of(baseline.path) == BaselineRole::anchor) continue;
    warn_if_stale({baseline.record, display_path(store.root / baseline.path)}, store, limits, "HEAD",
                  utc_now());
  }
}

void report_problems(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) write_error(problem);
}

ExitCode run_baseline_list(const BaselineOptions& options) {
  const Store store = store_here(options.store);
  std::vector<std::string> problems;
  const std::vector<StoredBaseline> baselines = list_baselines(store, problems);
  report_problems(problems);
  if (baselines.empty() && problems.empty()) {
    write_note("no baselines in " + display_path(store.baselines()) +
               "; save one with: flopmark baseline save RECORD");
    return ExitCode::ok;
  }
  write_output(baselines_table(baselines));
  warn_of_stale(store, baselines, options.age);
  refresh_table(store);
  return problems.empty() ? ExitCode::ok : ExitCode::baseline;
}

void print_baseline(const RunRecord& record, const std::filesystem::path& path) {
  SummaryContext context;
  context.record_path = display_path(path);
  write_output(summarize(record, context));
}

/// `name` alone shows that baseline of every hardware there is.
ExitCode show_by_name(const Store& store, const std::string& name) {
  std::vector<std::string> problems;
  std::string known;
  bool found = false;
  for (const StoredBaseline& baseline : list_baselines(store, problems)) {
    const std::string key = baseline_key(baseline.path);
    if (baseline.path.stem() == name || key == name) {
      write_output(found ? "\n" : "");
      print_baseline(baseline.record, store.root / baseline.path);
      found = true;
    }
    known += (known.empty() ? "" : ", ") + key;
  }
  report_problems(problems);
  if (found) return ExitCode::ok;
  throw baseline_error(fmt::format("no baseline \"{}\" in {}; there {}", name,
                                   display_path(store.baselines()),
                                   known.empty() ? "are none" : "are: " + known));
}

ExitCode run_baseline_show(const BaselineOptions& options) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(options.baseline, ignored)) {
    const Store store = store_here(options.store);
    const ExitCode code = show_by_name(store, options.baseline);
    refresh_table(store);
    return code;
  }
  print_baseline(read_record(options.baseline), options.baseline);
  return ExitCode::ok;
}

/// The baseline as it was committed against the file as it is now.
ExitCode run_baseline_diff(const BaselineOptions& options) {
  const Store store = store_here(options.store);
  const FoundRecord now = find_record(options.baseline, store);
  refresh_table(store);
  return print_comparison(find_committed(options.reference, now.source, store), now, options.comparison,
                          store);
}

/// The option every one of the four has.
void add_store(CLI::App& command, BaselineOptions& options, const char* help) {
  command.add_option("--store", options.store, help)->type_name("DIR")->check(not_empty());
}

void setup_save(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<BaselineOptions>();
  CLI::App* command = app.add_subcommand("save", "Save a record as the baseline of its hardware and config");
  command->add_option("RECORD", options->record, "A record written by flopmark run")
      ->type_name("FILE")
      ->required();
  command->add_option("--role", options->role, "rolling: judges runs; anchor: what it must not creep from")
      ->check(CLI::IsMember({"rolling", "anchor"}));
  command->add_flag("--force", options->save.force,
                    "Save against a refusal: dirty tree, warnings, few launches, slower");
  command
      ->add_option("--reason", options->save.reason,
                   "Why the force, or the new anchor; stored in the baseline")
      ->type_name("TEXT")
      ->check(not_empty());
  add_store(*command, *options, "Folder of baselines/; made if its parent exists");
  command->footer(
      "The first baseline that is replaced stays as NAME.anchor.json; check judges by both. The\n"
      "anchor moves only with --role anchor, so that many small losses do not go unseen.\n"
      "\n"
      "Exit codes: 0 saved, 1 refused because slower than the present one, 202 refused.\n"
      "\n"
      "Examples:\n"
      "  flopmark baseline save results/quickstart/RECORD.json\n"
      "  flopmark baseline save results/quickstart/RECORD.json --role anchor --reason \"dropout is on now\"");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return run_baseline_save(*options); }; });
}

void setup_baselines_list(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<BaselineOptions>();
  CLI::App* command = app.add_subcommand("list", "List the baselines of the store");
  add_age_options(*command, options->age);
  add_store(*command, *options, "Folder of baselines/");
  command->footer("Example:\n  flopmark baseline list");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return run_baseline_list(*options); }; });
}

void setup_show(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<BaselineOptions>();
  CLI::App* command = app.add_subcommand("show", "Show a baseline, or any record");
  command
      ->add_option("BASELINE", options->baseline, "A baseline by its name, on one hardware only, or a file")
      ->type_name("[HARDWARE/]NAME|FILE")
      ->required();
  add_store(*command, *options, "Folder of baselines/");
  command->footer("Example:\n  flopmark baseline show quickstart");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return run_baseline_show(*options); }; });
}

void setup_diff(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<BaselineOptions>();
  CLI::App* command = app.add_subcommand("diff", "Judge a baseline file against the one committed");
  command->add_option("BASELINE", options->baseline, "Name of a baseline, or its file")
      ->type_name("NAME|FILE")
      ->required();
  command->add_option("--from", options->reference, "Commit, branch or tag of the old side (default: HEAD)")
      ->type_name("REF");
  add_comparison_options(*command, options->comparison);
  add_store(*command, *options, "Folder of baselines/");
  command->footer(
      "Exit codes as flopmark compare.\n\nExample:\n  flopmark baseline diff quickstart --from HEAD~5");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return run_baseline_diff(*options); }; });
}

}  // namespace

void setup_baseline(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("baseline", "Save, list, show and compare baselines");
  command->footer("Example:\n  flopmark baseline list");
  setup_save(*command, invocation);
  setup_baselines_list(*command, invocation);
  setup_show(*command, invocation);
  setup_diff(*command, invocation);
}

}  // namespace flopmark
