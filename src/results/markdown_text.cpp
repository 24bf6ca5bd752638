#include "results/markdown_text.h"

#include <cstdint>

namespace flopmark {
namespace {

/// One code point of UTF-8; `length` 0 where the bytes are none.
struct CodePoint {
  uint32_t value = 0;
  size_t length = 0;
};

size_t length_of(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

CodePoint decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = length_of(lead);
  if (length == 0 || length > text.size()) return {};
  uint32_t value = length == 1 ? lead : lead & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return {};
    value = (value << 6) | (next & 0x3FU);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // longer forms of small values are not UTF-8
  const bool is_surrogate = value >= 0xD800 && value < 0xE000;
  if (value < kLeast[length] || value > 0x10FFFF || is_surrogate) return {};
  return {value, length};
}

bool is_control(uint32_t value) {
  const bool ascii_or_c1 = value < 0x20 || (value >= 0x7F && value < 0xA0);
  const bool line_break = value == 0x2028 || value == 0x2029;
  const bool direction = value == 0x200E || value == 0x200F || value == 0x061C ||
                         (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069);
  return ascii_or_c1 || line_break || direction;
}

}  // namespace

std::string markdown_escaped(std::string_view text) {
  constexpr std::string_view kMarks = "\\`*_[]<>|~&$";
  std::string escaped;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    const std::string_view bytes = text.substr(0, point.length);
    text.remove_prefix(point.length == 0 ? 1 : point.length);
    if (point.length == 0 || is_control(point.value)) continue;
    if (point.length == 1 && kMarks.find(bytes[0]) != std::string_view::npos) escaped += '\\';
    escaped += bytes;
  }
  return escaped;
}

}  // namespace flopmark
