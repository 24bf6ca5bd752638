#include "report/text_layout.h"

#include <algorithm>

namespace flopmark {
namespace {

constexpr size_t kLeastWidth = 20;  // of wrapped text, however wide what stands before it

bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

/// Bytes of the first `width` characters of `text`.
size_t bytes_of(std::string_view text, size_t width) {
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (starts_character(text[i]) && ++characters > width) return i;
  }
  return text.size();
}

std::string pad(size_t width, std::string_view text) {
  return std::string(width - std::min(width, display_width(text)), ' ');
}

template <typename Member>
size_t widest(const std::vector<TableRow>& rows, Member member) {
  size_t width = 0;
  for (const TableRow& row : rows) width = std::max(width, display_width(row.*member));
  return width;
}

}  // namespace

size_t display_width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::vector<std::string> wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) lines.push_back(std::move(line));
    line.clear();
  };
  while (!text.empty()) {
    const size_t blank = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (word.empty()) continue;
    if (display_width(line) + 1 + display_width(word) > width) flush();
    for (; display_width(word) > width; word.remove_prefix(bytes_of(word, width))) {
      lines.emplace_back(word.substr(0, bytes_of(word, width)));
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  flush();
  return lines;
}

std::string hanging(std::string_view first, std::string_view text) {
  const size_t indent = display_width(first);
  std::string out(first);
  const std::vector<std::string> lines = wrap(text, std::max(kTextWidth, indent + kLeastWidth) - indent);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += std::string(indent, ' ');
    out += lines[i] + "\n";
  }
  if (lines.empty()) out += "\n";
  return out;
}

std::string format_table(const std::vector<TableRow>& rows) {
  constexpr size_t kGap = 2;
  const size_t label_width = widest(rows, &TableRow::label);
  const size_t value_width = widest(rows, &TableRow::value);
  std::string out;
  for (const TableRow& row : rows) {
    const std::string left =
        row.label + pad(label_width + kGap, row.label) + pad(value_width, row.value) + row.value;
    out += row.note.empty() ? left + "\n" : hanging(left + std::string(kGap, ' '), row.note);
  }
  return out;
}

}  // namespace flopmark
