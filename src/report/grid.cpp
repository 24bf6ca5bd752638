#include "report/grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/text_layout.h"
#include "results/markdown_text.h"

namespace flopmark {
namespace {

using Cells = std::vector<std::string>;

std::vector<size_t> column_widths(const Grid& grid) {
  std::vector<size_t> widths(grid.align.size(), 0);
  for (const Cells& row : grid.rows) {
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], display_width(row.at(i)));
  }
  return widths;
}

std::string text_line(const Cells& row, const Grid& grid, const std::vector<size_t>& widths) {
  std::string line;
  for (size_t i = 0; i < widths.size(); ++i) {
    const std::string blanks(widths[i] - display_width(row[i]), ' ');
    line += (i == 0 ? "" : "  ") + (grid.align[i] == 'r' ? blanks + row[i] : row[i] + blanks);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string markdown_line(const Cells& row) {
  std::string line = "|";
  for (const std::string& cell : row) line += " " + markdown_escaped(cell) + " |";
  return line + "\n";
}

std::string markdown_rule(const Grid& grid) {
  std::string line = "|";
  for (const char side : grid.align) line += side == 'r' ? "---:|" : "---|";
  return line + "\n";
}

}  // namespace

std::string format_grid(const Grid& grid, TableStyle style) {
  std::string text;
  const std::vector<size_t> widths = column_widths(grid);
  for (size_t i = 0; i < grid.rows.size(); ++i) {
    text += style == TableStyle::text ? text_line(grid.rows[i], grid, widths) : markdown_line(grid.rows[i]);
    if (i == 0 && style == TableStyle::markdown) text += markdown_rule(grid);
  }
  return text;
}

std::string text_block(const Grid& grid) {
  return grid.rows.size() > 1 ? format_grid(grid, TableStyle::text) + "\n" : "";
}

std::string markdown_block(const std::string& heading, const Grid& grid) {
  if (grid.rows.size() < 2) return "";
  return "\n" + (heading.empty() ? "" : heading + "\n\n") + format_grid(grid, TableStyle::markdown);
}

std::string format_facts(const Facts& facts, TableStyle style) {
  std::string text;
  for (const auto& [label, sentence] : facts) {
    text += style == TableStyle::text
                ? hanging(fmt::format("{:<9} ", label), sentence)
                : fmt::format("- {}: {}\n", markdown_escaped(label), markdown_escaped(sentence));
  }
  return text;
}

}  // namespace flopmark
