#include "config/key_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
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
    const bool known = std::find(row.values.begin(), row.values.end(), text) != row.values.end();
    if (row.values.empty() ? !fits(row.form, text) : !known) return false;
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
    return row.values.empty() ? row.form.text : fmt::format("one of {}", fmt::join(row.values, ", "));
  }
  std::string operator()(CheckpointInterval& (*)(RunConfig&)) const {
    return "none, full or " + range_text(row.integers);
  }
  std::string operator()(std::optional<double>& (*)(RunConfig&)) const {
    return range_text(row.numbers) + ", or null";
  }
  std::string operator()(std::vector<InputSpec>& (*)(RunConfig&)) const { return inputs_text(); }
  std::string operator()(std::vector<std::string>& (*)(RunConfig&)) const { return row.form.text; }
};

/// One of the three kinds of type that a key may be bound to.
struct ScopePart {
  const char* key;
  const std::vector<std::string>& allowed;
  const std::string& type;
};

std::vector<ScopePart> scope_parts(const KeyRow& row, const RunConfig& config) {
  return {{"model.type", row.scope.models, config.model.type},
          {"data.type", row.scope.data, config.data.type},
          {"train.optimizer.type", row.scope.optimizers, config.train.optimizer.type}};
}

/// A model from a file has no model.type of its own; the others are told by the key that names them.
struct FileModels {
  std::vector<std::string> types;
  const char* text;
  const char* one;
};

const FileModels* find_file_models(const std::vector<std::string>& models) {
  static const FileModels kKinds[] = {
      {{"torchscript"}, "TorchScript models (model.torchscript)", "a TorchScript model"},
      {{"exported"}, "exported models (model.exported)", "an exported model"},
      {{"torchscript", "exported"}, "models from a file (model.torchscript, model.exported)", ""},
  };
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const FileModels& kind) { return kind.types == models; });
  return found == std::end(kKinds) ? nullptr : found;
}

bool fits_file_model(const KeyRow& row, const RunConfig& config) {
  const auto& types = row.scope.file_model_data;
  return std::find(types.begin(), types.end(), config.data.type) != types.end();
}

std::string allowed_text(const ScopePart& part) {
  const FileModels* from_file = find_file_models(part.allowed);
  return from_file != nullptr ? from_file->text : fmt::format("{}", fmt::join(part.allowed, ", "));
}

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

std::string scope_text(const KeyRow& row) {
  std::string text;
  const RunConfig any;
  for (const ScopePart& part : scope_parts(row, any)) {
    if (part.allowed.empty()) continue;
    const std::string key = find_file_models(part.allowed) != nullptr ? "" : std::string(part.key) + " ";
    text += fmt::format("{}{}{}", text.empty() ? "only for " : ", ", key, allowed_text(part));
  }
  if (const auto& types = row.scope.file_model_data; !types.empty()) {
    text += fmt::format(", or with data.type {}", fmt::join(types, ", "));
  }
  return text;
}

bool applies_to(const KeyRow& row, const RunConfig& config) {
  return scope_conflict(row, config).empty();
}

std::string scope_conflict(const KeyRow& row, const RunConfig& config) {
  for (const ScopePart& part : scope_parts(row, config)) {
    const auto& allowed = part.allowed;
    if (allowed.empty() || std::find(allowed.begin(), allowed.end(), part.type) != allowed.end()) continue;
    const FileModels* from_file = find_file_models({part.type});
    if (from_file != nullptr && fits_file_model(row, config)) continue;
    if (from_file != nullptr) {
      return fmt::format("does not apply to {}, only to {} {}", from_file->one, part.key, allowed_text(part));
    }
    return fmt::format("does not apply to {} \"{}\", only to {}", part.key, part.type, allowed_text(part));
  }
  return "";
}

}  // namespace flopmark
