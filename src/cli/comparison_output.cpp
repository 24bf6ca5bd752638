#include "cli/comparison_output.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/terminal.h"
#include "compare/calibration_file.h"
#include "compare/sitting_file.h"
#include "report/comparison_report.h"

namespace flopmark {

void add_comparison_options(CLI::App& command, ComparisonOptions& options) {
  command.add_option("--format", options.format, "Form of the report")
      ->check(CLI::IsMember({"table", "markdown", "json"}));
  command.add_flag("--strict", options.differences.strict,
                   "Refuse differences that may matter, too (driver, threads, ...)");
  command
      .add_option("--allow", options.differences.allow,
                  "Compare although KEY (environment.driver) differs; may be repeated")
      ->type_name("KEY")
      ->allow_extra_args(false);
}

void warn_of_unused_allowances(const std::vector<EnvironmentDifference>& differences,
                               const std::vector<std::string>& allow) {
  for (const std::string& key : unused_allowances(differences, allow)) {
    write_warning(fmt::format("--allow {}: nothing of that name differs", key));
  }
}

StoredComparison judge(const FoundRecord& a, const FoundRecord& b, const DifferenceOptions& differences,
                       const Store& store) {
  CompareOptions how;
  how.differences = differences;
  how.name_a = a.source;
  how.name_b = b.source;
  how.sittings = sitting_ratios(
      counted_sittings(read_sittings(sittings_path(store, b.record)), calibration_key(b.record.config)));
  return compare_records(a.record, b.record, how);
}

ExitCode print_comparison(const FoundRecord& a, const FoundRecord& b, const ComparisonOptions& options,
                          const Store& store) {
  const StoredComparison comparison = judge(a, b, options.differences, store);
  warn_of_unused_allowances(comparison.environment_differences, options.differences.allow);
  const ComparisonReport report{a, b, comparison};
  write_output(options.format == "json"       ? comparison_json(report)
               : options.format == "markdown" ? comparison_markdown(report)
                                              : comparison_text(report));
  return exit_code(comparison);
}

}  // namespace flopmark
