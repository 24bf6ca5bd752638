#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace flopmark {

/// A parsed JSON text and where its keys are.
struct JsonDocument {
  nlohmann::json value;
  std::map<std::string, size_t> lines;  ///< dotted path of a key -> its line, from 1
};

/// Parses JSON; // and /* */ comments are allowed. `source` names the text in messages.
/// @throws Error 200, with line and column where there are any: empty text, a syntax error (trailing commas
///   and text included), a key given twice in one object, a number too large for a double, a key longer than
///   128 bytes, nesting deeper than 16.
JsonDocument parse_strict_json(const std::string& text, const std::string& source);

/// What the JSON library complains of, in printable ASCII and without its own prefixes: "line 3, column 5:
/// syntax error ..." of a text, "type must be ..." of a value.
std::string json_complaint(const nlohmann::json::exception& error);

}  // namespace flopmark
