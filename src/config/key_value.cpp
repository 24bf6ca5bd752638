#include "config/key_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>

#include "config/input_list.h"

namespace flopmark {
namespace {

using nlohmann::json;

constexpr size_t kShownBytes = 80;
constexpr size_t kMostListed = 64;

bool in_range(double value, const NumberRange& range) {
  const bool low = range.above_min ? value > range.min : value >= range.min;
  const bool high = range.below_max ? value < range.max : value <= range.max;
  return low && high && std::isfinite(value);
}

/// Compiled once per pattern and thread: compiling costs far more than matching.
const std::regex& compiled(const std::string& pattern) {
  thread_local std::map<std::string, std::regex> cache;
  const auto found = cache.find(pattern);
  return found != cache.end() ? found->second : cache.emplace(pattern, std::regex(pattern)).first->second;
}

bool fits(const StringForm& form, const std::string& text) {
  if (text.empty() || text.size() > form.max_length) return false;
  if (text.find('\0') != std::string::npos || !is_utf8(text)) return false;
  return form.pattern.empty() || std::regex_match(text, compiled(form.pattern));
}

/// Assigns by the type of the key's place; each overload returns whether the value fits.
struct Assign {
  const KeyRow& row;
  const json& value;
  RunConfig& config;

  bool operator()(int64_t& (*place)(RunConfig&)) const {
    const auto number = whole_number(value);
    if (!number || *number < row.integers.min || *number > row.integers.max) return false;
    place(config) = *number;
    return true;
  }
  bool operator()(double& (*place)(RunConfig&)) const {
    if (!value.is_number() || !in_range(value.get<double>(), row.numbers)) return false;
    place(config) = value.get<double>();
    return true;
  }
  bool operator()(bool& (*place)(RunConfig&)) const {
    if (!value.is_boolean()) return false;
    place(config) = value.get<bool>();
    return true;
  }
  bool operator()(std::string& (*place)(RunConfig&)) const {
    if (!value.is_string()) return false;
    const auto& text = value.get_ref<const std::string&>();
    const bool any_name = row.values.empty() || row.names_of_plugins;
    if (!is_listed(row, value) && !(any_name && fits(row.form, text))) return false;
    place(config) = text;
    return true;
  }
  bool operator()(CheckpointInterval& (*place)(RunConfig&)) const {
    if (value == "none" || value == "full") {
      place(config).blocks = value == "none" ? 0 : 1;
      return true;
    }
    const auto number = whole_number(value);
    if (!number || *number < row.integers.min || *number > row.integers.max) return false;
    place(config).blocks = *number;
    return true;
  }
  bool operator()(std::optional<double>& (*place)(RunConfig&)) const {
    if (value.is_null()) {
      place(config).reset();
      return true;
    }
    if (!value.is_number() || !in_range(value.get<double>(), row.numbers)) return false;
    place(config) = value.get<double>();
    return true;
  }
  bool operator()(std::vector<InputSpec>& (*place)(RunConfig&)) const {
    return read_inputs(value, row.path, place(config)).empty();
  }
  bool operator()(std::vector<std::string>& (*place)(RunConfig&)) const {
    if (!value.is_array() || value.empty() || value.size() > kMostListed) return false;
    for (const json& entry : value) {
      if (!entry.is_string() || !fits(row.form, entry.get_ref<const std::string&>())) return false;
    }
    place(config) = value.get<std::vector<std::string>>();
    return true;
  }
  bool operator()(OptionsText& (*place)(RunConfig&)) const {
    if (!value.is_object()) return false;
    try {
      place(config).json = value.dump();
    } catch (const json::type_error&) {  // not UTF-8
      return false;
    }
    return true;
  }
};

std::string range_text(const IntegerRange& range) {
  return fmt::format("a whole number from {} to {}", range.min, range.max);
}

std::string range_text(const NumberRange& range) {
  std::string low = fmt::format("a number {} {}", range.above_min ? ">" : ">=", range.min);
  if (std::isinf(range.max)) return low;
  return fmt::format("{} and {} {}", low, range.below_max ? "<" : "<=", range.max);
}

struct Expected {
  const KeyRow& row;
  std::string operator()(int64_t& (*)(RunConfig&)) const { return range_text(row.integers); }
  std::string operator()(double& (*)(RunConfig&)) const { return range_text(row.numbers); }
  std::string operator()(bool& (*)(RunConfig&)) const { return "true or false"; }
  std::string operator()(std::string& (*)(RunConfig&)) const {
    if (row.values.empty()) return row.form.text;
    const std::string listed = fmt::format("one of {}", fmt::join(row.values, ", "));
    return row.names_of_plugins
               ? fmt::format("{}; with {}.plugin, the name of one of its own", listed, parent_of(row.path))
               : listed;
  }
  std::string operator()(CheckpointInterval& (*)(RunConfig&)) const {
    return "none, full or " + range_text(row.integers);
  }
  std::string operator()(std::optional<double>& (*)(RunConfig&)) const {
    return range_text(row.numbers) + ", or null";
  }
  std::string operator()(std::vector<InputSpec>& (*)(RunConfig&)) const { return inputs_text(); }
  std::string operator()(std::vector<std::string>& (*)(RunConfig&)) const { return row.form.text; }
  std::string operator()(OptionsText& (*)(RunConfig&)) const { return "an object, in UTF-8"; }
};

std::string shortened(std::string text) {
  if (text.size() <= kShownBytes) return text;
  size_t end = kShownBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;  // not inside a character
  return text.substr(0, end) + "...";
}

std::string dumped(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::optional<int64_t> whole_number(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  // Beyond 2^53 a double no longer tells neighbouring whole numbers apart.
  constexpr double kExact = 9007199254740992.0;
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  if (std::fabs(number) > kExact || std::trunc(number) != number) return std::nullopt;
  return static_cast<int64_t>(number);
}

bool assign_value(const KeyRow& row, const json& value, RunConfig& config) {
  return std::visit(Assign{row, value, config}, row.field);
}

std::string refusal_text(const KeyRow& row, const json& value) {
  if (std::holds_alternative<std::vector<InputSpec>& (*)(RunConfig&)>(row.field)) {
    std::vector<InputSpec> scratch;
    return read_inputs(value, row.path, scratch);
  }
  return fmt::format("{}: found {}, expected {}", row.path, found_text(value), expected_text(row));
}

json value_of(const KeyRow& row, const RunConfig& config) {
  RunConfig copy = config;  // the table's accessors need a config they could change
  return std::visit(
      [&](auto place) -> json {
        const auto& value = place(copy);
        if constexpr (std::is_same_v<decltype(value), const std::optional<double>&>) {
          return value ? json(*value) : json(nullptr);
        } else if constexpr (std::is_same_v<decltype(value), const CheckpointInterval&>) {
          return value.blocks > 1 ? json(value.blocks) : json(value.blocks == 1 ? "full" : "none");
        } else if constexpr (std::is_same_v<decltype(value), const std::vector<InputSpec>&>) {
          return inputs_to_json(value);
        } else if constexpr (std::is_same_v<decltype(value), const OptionsText&>) {
          return json::parse(value.json);
        } else {
          return value;
        }
      },
      row.field);
}

json default_of(const KeyRow& row) {
  return value_of(row, RunConfig{});
}

std::string expected_text(const KeyRow& row) {
  return std::visit(Expected{row}, row.field);
}

std::string found_text(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  return shortened(dumped(value));
}

std::string quoted_text(const std::string& text) {
  return shortened(dumped(json(text.substr(0, 4 * kShownBytes))));
}

bool is_utf8(const std::string& text) {
  try {
    return !json(text).dump().empty();
  } catch (const json::type_error&) {
    return false;
  }
}

bool is_options(const KeyRow& row) {
  return std::holds_alternative<OptionsText& (*)(RunConfig&)>(row.field);
}

bool is_listed(const KeyRow& row, const json& value) {
  return value.is_string() && std::find(row.values.begin(), row.values.end(),
                                        value.get_ref<const std::string&>()) != row.values.end();
}

}  // namespace flopmark
