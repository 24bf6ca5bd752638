#include "plugin/option_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace flopmark {
namespace {

constexpr size_t kShownBytes = 80;

std::string shown(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  const std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true);  // cut anywhere, it stays a text
  return text.size() <= kShownBytes ? text : text.substr(0, kShownBytes) + "...";
}

/// Both ends; the last and first number there is are no limit.
template <class Number>
std::string range_text(Number min, Number max) {
  const bool has_min = min > std::numeric_limits<Number>::lowest();
  const bool has_max = max < std::numeric_limits<Number>::max();
  if (has_min && has_max) return fmt::format(" from {} to {}", min, max);
  return has_min ? fmt::format(" >= {}", min) : has_max ? fmt::format(" <= {}", max) : "";
}

/// Also of 2.0 and 1e3, as elsewhere in a config.
std::optional<int64_t> whole(const nlohmann::json& value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) {
    return std::nullopt;
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  if (std::fabs(number) > kExact || std::trunc(number) != number) return std::nullopt;
  return static_cast<int64_t>(number);
}

}  // namespace

OptionReader::OptionReader(const std::string& object, std::string key)
    : options_(nlohmann::json::parse(object)), key_(std::move(key)) {}

const nlohmann::json* OptionReader::find(const std::string& name) const {
  asked_.insert(name);
  const auto found = options_.find(name);
  return found == options_.end() ? nullptr : &*found;
}

void OptionReader::refuse(const std::string& name, const std::string& expected) const {
  throw usage_error(
      fmt::format("{}.{}: found {}, expected {}", key_, name, shown(options_.at(name)), expected));
}

bool OptionReader::has(const std::string& name) const {
  return find(name) != nullptr;
}

int64_t OptionReader::integer(const std::string& name, int64_t fallback, int64_t min, int64_t max) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return fallback;
  const std::optional<int64_t> number = whole(*value);
  if (!number || *number < min || *number > max) refuse(name, "a whole number" + range_text(min, max));
  return *number;
}

double OptionReader::number(const std::string& name, double fallback, double min, double max) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return fallback;
  const double number = value->is_number() ? value->get<double>() : std::nan("");
  if (!(number >= min && number <= max)) refuse(name, "a number" + range_text(min, max));
  return number;
}

bool OptionReader::flag(const std::string& name, bool fallback) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) refuse(name, "true or false");
  return value->get<bool>();
}

std::string OptionReader::text(const std::string& name, const std::string& fallback,
                               const std::vector<std::string>& allowed) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return fallback;
  if (!value->is_string()) refuse(name, "a text");
  const auto text = value->get<std::string>();
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), text) == allowed.end()) {
    refuse(name, fmt::format("one of {}", fmt::join(allowed, ", ")));
  }
  return text;
}

std::string OptionReader::json(const std::string& name) const {
  if (name.empty()) {
    all_asked_ = true;
    return options_.dump();
  }
  const nlohmann::json* value = find(name);
  return value == nullptr ? "null" : value->dump();
}

void OptionReader::check_all_asked() const {
  if (all_asked_) return;
  for (const auto& [name, value] : options_.items()) {
    if (asked_.count(name) > 0) continue;
    const std::string known =
        asked_.empty() ? "it has no options" : fmt::format("known are {}", fmt::join(asked_, ", "));
    throw usage_error(fmt::format("{}: unknown option {}; {}", key_, shown(nlohmann::json(name)), known));
  }
}

}  // namespace flopmark
