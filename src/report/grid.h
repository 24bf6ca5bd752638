#pragma once

#include <string>
#include <utility>
#include <vector>

namespace flopmark {

/// How tables are written.
enum class TableStyle { text, markdown };

/// A table of any number of columns. Cells are safe to print as they are (see printable).
struct Grid {
  std::string align;                           ///< one letter per column: l or r
  std::vector<std::vector<std::string>> rows;  ///< the first is the heading; each has a cell per column
};

/// Text: columns two blanks apart, as wide as they are. Markdown: a table, marks in cells escaped.
std::string format_grid(const Grid& grid, TableStyle style);

/// As text, and a blank line; empty for a grid that has only its heading.
std::string text_block(const Grid& grid);

/// As Markdown below a blank line and `heading` (may be empty); empty for a grid that has only its heading.
std::string markdown_block(const std::string& heading, const Grid& grid);

/// What a table rests on: label and sentence.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// Text: one hanging paragraph each, labels in a column of 10. Markdown: a list.
std::string format_facts(const Facts& facts, TableStyle style);

}  // namespace flopmark
