#include <fmt/format.h>

#include <sstream>

#include "config/key_scope.h"
#include "config/key_table.h"
#include "config/key_value.h"
#include "config/run_config.h"

namespace flopmark {
namespace {

constexpr size_t kColumns = 96;

/// Broken at spaces so that no line is longer than kColumns; every line indented by four.
std::string paragraph(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  std::string line = "   ";
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > kColumns) {
      result += line + "\n";
      line = "   ";
    }
    line += " " + word;
  }
  return result + line + "\n";
}

/// The key, and on the same line, if there is room, what it is for.
std::string key_line(const KeyRow& row) {
  const std::string scope = scope_text(row);
  if (scope.empty()) return row.path + "\n";
  const std::string line = fmt::format("{}  ({})\n", row.path, scope);
  return line.size() <= kColumns ? line : row.path + "\n" + paragraph("(" + scope + ")");
}

std::string key_help(const KeyRow& row) {
  const std::string default_text = row.default_text.empty() ? default_of(row).dump() : row.default_text;
  return key_line(row) + paragraph(row.doc) + paragraph(expected_text(row)) +
         paragraph("default: " + default_text);
}

}  // namespace

std::string config_help() {
  std::string text =
      "A config is a JSON file; comments are allowed, unknown keys are refused. Every key has a default\n"
      "except data.path. In a file, keys are nested in objects; --set takes them with dots, as below:\n"
      "--set measure.steps=100.\n"
      "\"extends\": \"other.json\" starts from another config (its name is not taken over);\n"
      "\"$schema\": \"schema.json\" is for editors.\n";
  std::string section = "none yet";
  for (const KeyRow& row : config_keys()) {
    // A blank line where a new section begins.
    if (parent_of(row.path) != section) text += "\n";
    section = parent_of(row.path);
    text += key_help(row);
  }
  return text;
}

}  // namespace flopmark
