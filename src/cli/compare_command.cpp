#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/comparison_output.h"
#include "cli/terminal.h"

namespace flopmark {
namespace {

struct CompareCommandOptions {
  std::string a, b;
  std::filesystem::path store;
  ComparisonOptions comparison;
};

ExitCode run_compare(const CompareCommandOptions& options) {
  const Store store = find_store(options.store, std::filesystem::current_path() / "config.json");
  return print_comparison(find_record(options.a, store), find_record(options.b, store), options.comparison);
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
