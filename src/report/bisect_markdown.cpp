#include <fmt/format.h>

#include "report/bisect_parts.h"
#include "results/markdown_text.h"

namespace flopmark {
namespace {

/// A fence that `line` cannot end.
std::string fenced(const std::string& line) {
  std::string fence = "```";
  while (line.find(fence) != std::string::npos) fence += '`';
  return fmt::format("{}sh\n{}\n{}\n", fence, line, fence);
}

}  // namespace

std::string bisect_markdown(const BisectReport& report) {
  std::string text =
      fmt::format("**{}**: {}\n\n", to_text(report.result.outcome), markdown_escaped(report.result.reason)) +
      format_facts(bisect_facts(report), TableStyle::markdown) +
      markdown_block("Commits tested:", bisect_commit_grid(report)) +
      markdown_block("Phases that changed:", bisect_phase_grid(report)) +
      markdown_block("Operators that changed:", bisect_operator_grid(report));
  for (const std::string& note : bisect_notes(report)) text += fmt::format("\n{}.\n", markdown_escaped(note));
  for (const BisectReport::Command& command : report.commands) {
    text += fmt::format("\n{}:\n\n{}", markdown_escaped(command.what), fenced(command.line));
  }
  return text;
}

}  // namespace flopmark
