#include "launch/printable_text.h"

#include <cstdint>

namespace flopmark {
namespace {

/// Bytes of the UTF-8 sequence at the start of `text` and its code point; 0 bytes if it is not one.
struct Decoded {
  size_t bytes = 0;
  uint32_t point = 0;
};

/// Bytes of the sequence that `lead` begins; 0 if it begins none.
size_t sequence_bytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead >= 0xF5) return 0;
  if (lead < 0xE0) return 2;
  return lead < 0xF0 ? 3 : 4;
}

/// Whether UTF-8 may say `point` in that many bytes: in the shortest form, and only what is a character.
bool is_allowed(uint32_t point, size_t bytes) {
  const bool overlong = (bytes == 3 && point < 0x800) || (bytes == 4 && point < 0x10000);
  const bool surrogate = point >= 0xD800 && point < 0xE000;
  return !overlong && !surrogate && point <= 0x10FFFF;
}

Decoded decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t bytes = sequence_bytes(lead);
  if (bytes == 1) return {1, lead};
  if (bytes == 0 || text.size() < bytes) return {};
  uint32_t point = lead & (0xFFU >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80U) return {};
    point = point << 6U | (next & 0x3FU);
  }
  return is_allowed(point, bytes) ? Decoded{bytes, point} : Decoded{};
}

/// Length of the terminal escape sequence at the start of `text`, which begins with ESC: CSI and OSC
/// sequences whole, others two characters (ECMA-48, sections 5.3 to 5.6).
size_t escape_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  size_t end = 2;
  if (text[1] == '[') {
    while (end < text.size() && (text[end] < 0x40 || text[end] > 0x7E)) ++end;
    return end < text.size() ? end + 1 : end;
  }
  if (text[1] == ']') {
    while (end < text.size() && text[end] != '\a' && text[end] != '\x1b') ++end;
    return end < text.size() && text[end] == '\a' ? end + 1 : end;
  }
  return end;
}

bool is_invisible(uint32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || (point >= 0x200B && point <= 0x200F) ||
         (point >= 0x2028 && point <= 0x202E) || (point >= 0x2060 && point <= 0x2069) || point == 0xFEFF;
}

}  // namespace

std::string printable_text(std::string_view text, size_t limit) {
  std::string out;
  size_t last_fit = 0;  // where a cut leaves room for the dots and splits no character
  while (!text.empty() && out.size() <= limit) {
    if (out.size() + 3 <= limit) last_fit = out.size();
    if (text[0] == '\x1b') {
      text.remove_prefix(escape_length(text));
      continue;
    }
    const Decoded decoded = decode(text);
    const size_t bytes = decoded.bytes == 0 ? 1 : decoded.bytes;
    if (decoded.bytes == 0) {
      out += '?';
    } else if (text[0] == '\t' || text[0] == '\n') {
      out += ' ';
    } else if (!is_invisible(decoded.point)) {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  if (out.size() > limit) {
    out.resize(last_fit);
    out += "...";
  }
  return out;
}

}  // namespace flopmark
