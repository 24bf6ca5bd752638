#include <fmt/format.h>

#include "report/paired_parts.h"
#include "report/paired_report.h"
#include "report/units.h"
#include "results/markdown_text.h"

namespace flopmark {
namespace {

std::string list_item(const char* label, const std::string& text) {
  return fmt::format("- {}: {}\n", label, markdown_escaped(text));
}

}  // namespace

std::string paired_markdown(const PairedComparison& comparison) {
  std::string text =
      fmt::format("**{}**: {}\n\n", to_text(comparison.verdict), markdown_escaped(comparison.reason)) +
      list_item("config", comparison.result.name) + list_item("A", paired_side_text(comparison.a)) +
      list_item("B", paired_side_text(comparison.b)) + list_item("pairs", paired_extent_text(comparison));
  if (!comparison.environment_differences.empty()) text += "\nDifferences:\n\n";
  for (const EnvironmentDifference& difference : comparison.environment_differences) {
    text += fmt::format("- {}\n", markdown_escaped(paired_difference_text(difference)));
  }
  if (!comparison.result.pairs.empty()) {
    text += markdown_block("", paired_summary_grid(comparison)) +
            markdown_block("Metrics:", paired_metric_grid(comparison)) +
            markdown_block("Phases that changed:", paired_phase_grid(comparison)) +
            markdown_block("Operators that changed:", paired_operator_grid(comparison));
  }
  for (const std::string& note : comparison.notes) text += fmt::format("\n{}.\n", markdown_escaped(note));
  return text;
}

}  // namespace flopmark
