#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace flopmark {

/// Columns of the terminal summary.
inline constexpr size_t kTextWidth = 100;

/// Columns `text` takes: one per UTF-8 character (wide characters count as one).
size_t display_width(std::string_view text);

/// `text` broken at blanks into lines of at most `width` columns; a longer word is cut.
std::vector<std::string> wrap(std::string_view text, size_t width);

/// `first` followed by `text`, wrapped to kTextWidth; further lines are indented to where `text` began. Ends
/// in a line break.
std::string hanging(std::string_view first, std::string_view text);

/// Label, value (right-aligned) and note (wrapped) in three columns within kTextWidth.
struct TableRow {
  std::string label, value, note;
};
std::string format_table(const std::vector<TableRow>& rows);

}  // namespace flopmark
