#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/age_options.h"
#include "cli/commands.h"
#include "cli/comparison_output.h"
#include "cli/terminal.h"

namespace flopmark {
namespace {

struct CompareCommandOptions {
  std::string a, b;
  std::filesystem::path store;
  ComparisonOptions comparison;
  AgeLimits age;
};

/// A baseline keeps no raw steps. A run's record is compared for what it is, whatever its age.
bool is_baseline(const RunRecord& record) {
  return std::all_of(record.repeats.begin(), record.repeats.end(),
                     [](const Repeat& repeat) { return repeat.step_s.empty(); });
}

ExitCode run_compare(const CompareCommandOptions& options) {
  const Store store = find_store(options.store, std::filesystem::current_path() / "config.json");
  const FoundRecord a = find_record(options.a, store), b = find_record(options.b, store);
  if (is_baseline(a.record)) {
    warn_if_stale(a, store, options.age, b.record.subject.commit.value_or(""), b.record.time);
  }
  return print_comparison(a, b, options.comparison, store);
}

}  // namespace

void setup_compare(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<CompareCommandOptions>();
  CLI::App* command = app.add_subcommand("compare", "Judge record B against record A");
  command->add_option("A", options->a, "The old side: a record, a baseline's name, or REF:NAME as committed")
      ->type_name("FILE|NAME|REF:NAME")
      ->required();
  command->add_option("B", options->b, "The new side, likewise")->type_name("FILE|NAME|REF:NAME")->required();
  add_comparison_options(*command, options->comparison);
  add_age_options(*command, options->age);
  command->add_option("--store", options->store, "Folder of baselines/")->type_name("DIR");
  command->footer(
      "Exit codes: 0 same or faster, 1 slower, 125 not settled or B failed, 201 not comparable,\n"
      "202 a record is missing, empty or contradicts itself.\n"
      "\n"
      "Example:\n"
      "  flopmark compare HEAD~1:quickstart results/quickstart/RECORD.json");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return run_compare(*options); }; });
}

}  // namespace flopmark
