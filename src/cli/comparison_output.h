#pragma once

#include <string>
#include <vector>

#include "compare/environment_difference.h"
#include "compare/stored_comparison.h"
#include "results/record_lookup.h"

namespace CLI {
class App;
}

namespace flopmark {

/// What every command that compares two records takes.
struct ComparisonOptions {
  std::string format = "table";  ///< table, markdown, json
  DifferenceOptions differences;
};

/// Adds --format, --strict and --allow to `command`; `options` must outlive the parsing.
void add_comparison_options(CLI::App& command, ComparisonOptions& options);

/// Warns of each --allow KEY that nothing needed: a mistyped one would go unseen.
void warn_of_unused_allowances(const std::vector<EnvironmentDifference>& differences,
                               const std::vector<std::string>& allow);

/// b judged against a, with the tolerances of the sittings on file in `store` for b's hardware and config.
/// @throws Error 202 or 125 if either measured nothing; 202 if the sittings cannot be read.
StoredComparison judge(const FoundRecord& a, const FoundRecord& b, const DifferenceOptions& differences,
                       const Store& store);

/// Judges b against a, prints the report, and returns the verdict's exit code. @throws as judge.
ExitCode print_comparison(const FoundRecord& a, const FoundRecord& b, const ComparisonOptions& options,
                          const Store& store);

}  // namespace flopmark
