#include <fmt/format.h>

#include "report/comparison_report.h"
#include "report/comparison_rows.h"
#include "report/confirm_line.h"
#include "results/markdown_text.h"

namespace flopmark {
namespace {

std::string side_line(const char* name, const FoundRecord& side) {
  return fmt::format("- {}: {} ({})\n", name, markdown_escaped(side.source),
                     markdown_escaped(record_origin(side.record)));
}

std::string difference_line(const EnvironmentDifference& difference) {
  return fmt::format("- {}: {} → {}{}\n", markdown_escaped(difference.key), markdown_escaped(difference.a),
                     markdown_escaped(difference.b), difference.allowed ? " (allowed)" : "");
}

}  // namespace

std::string comparison_markdown(const ComparisonReport& report) {
  const StoredComparison& comparison = report.comparison;
  std::string text = fmt::format("**{}**: {}\n\n", markdown_escaped(to_text(comparison.verdict)),
                                 markdown_escaped(comparison.reason)) +
                     side_line("A", report.a) + side_line("B", report.b);
  if (!comparison.environment_differences.empty()) text += "\nDifferences that matter or may matter:\n\n";
  for (const auto& difference : comparison.environment_differences) text += difference_line(difference);
  if (!comparison.summaries.empty()) text += "\n| | A | B | change | |\n|---|---:|---:|---:|---|\n";
  for (const ComparisonRow& row : comparison_rows(comparison)) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", markdown_escaped(row.label), markdown_escaped(row.a),
                        markdown_escaped(row.b), markdown_escaped(row.change), markdown_escaped(row.note));
  }
  for (const std::string& note : comparison.notes) text += fmt::format("\n{}.\n", markdown_escaped(note));
  if (comparison.unconfirmed) {
    text += fmt::format("\nTo confirm:\n\n    {}\n", confirm_line(report.a.record, report.b.record));
  }
  return text;
}

}  // namespace flopmark
