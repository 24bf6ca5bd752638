#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "config/key_table.h"

namespace flopmark {

/// Puts `value` into the key's place in `config`. Returns false, and changes nothing, if the value is not of
/// the key's type and range. A whole number written as 2.0 or 1e3 is a whole number, as in JSON Schema.
bool assign_value(const KeyRow& row, const nlohmann::json& value, RunConfig& config);

/// Why assign_value refuses `value`: the place, what was found and what was expected.
std::string refusal_text(const KeyRow& row, const nlohmann::json& value);

/// The key's value in `config`; null for an absent optional number.
nlohmann::json value_of(const KeyRow& row, const RunConfig& config);

/// The key's default; only meaningful for rows without `default_text`.
nlohmann::json default_of(const KeyRow& row);

/// What a value must be, in words: "a whole number from 1 to 65536", "one of sgd, adamw".
std::string expected_text(const KeyRow& row);

/// Also of 2.0 and 1e3; nothing for what is no whole number or does not fit.
std::optional<int64_t> whole_number(const nlohmann::json& value);

/// A value as messages show it: JSON, on one line, shortened; arrays and objects by their kind only.
std::string found_text(const nlohmann::json& value);

/// Any text as messages show it: quoted, control characters escaped, broken UTF-8 replaced, shortened.
std::string quoted_text(const std::string& text);

/// Whether `text` is UTF-8 throughout, so that it can be written as JSON.
bool is_utf8(const std::string& text);

/// Whether the key holds options of a plug-in, whose names it does not know.
bool is_options(const KeyRow& row);

/// Whether a key with a list of names has `value` in it.
bool is_listed(const KeyRow& row, const nlohmann::json& value);

}  // namespace flopmark
