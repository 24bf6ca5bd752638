#include "report/shell_quoted.h"

#include <fmt/format.h>

#include "launch/printable_text.h"

namespace flopmark {
namespace {

constexpr std::string_view kSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";

/// Whether a terminal shows it as it is.
bool is_plain(std::string_view text) {
  return printable_text(text, text.size() + 3) == text;
}

std::string in_single_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string in_escapes(std::string_view text) {
  std::string quoted = "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7E) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      if (c == '\'' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  // A leading "-" would be read as an option, a leading "=" by zsh as a command's path.
  if (text.starts_with('-') || text.starts_with('=')) return shell_quoted("./" + std::string(text));
  if (!text.empty() && text.find_first_not_of(kSafe) == std::string_view::npos) return std::string(text);
  return is_plain(text) ? in_single_quotes(text) : in_escapes(text);
}

}  // namespace flopmark
