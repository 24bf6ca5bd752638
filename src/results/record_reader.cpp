#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "flopmark/error.h"
#include "results/record_fields.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

using nlohmann::json;

constexpr std::array kStatuses = {"ok", "invalid", "failed", "incomplete"};
constexpr std::array kRequired = {"name", "status", "config", "environment", "metrics", "repeats"};

/// A short quotation of a value for a message.
std::string shown(const json& value) {
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= 40 ? text : text.substr(0, 40) + "...";
}

/// Fills a struct from a JSON object; `place` is where it stands in the file.
class Reader {
 public:
  template <typename T>
  using Of = T;

  Reader(const json& object, const std::string& source, std::string place)
      : object_(object), source_(source), place_(std::move(place)) {
    expect(object.is_object(), object, place_, "an object");
  }

  template <typename T>
  void operator()(const char* key, T& value) {
    static const json kAbsent;
    const auto found = object_.find(key);
    read(found == object_.end() ? kAbsent : *found, place_of(key), value);
  }
  /// Whether a number that must be there was null or missing: what holds it is then unknown.
  bool has_holes() const { return has_holes_; }

 private:
  std::string place_of(const std::string& key) const { return place_.empty() ? key : place_ + "." + key; }

  void expect(bool right, const json& value, const std::string& place, const char* wanted) const {
    if (right) return;
    throw baseline_error(fmt::format("{}: not a usable record: {} must be {}, found {}", source_,
                                     place.empty() ? "the whole" : "\"" + place + "\"", wanted,
                                     shown(value)));
  }

  void read(const json& json_value, const std::string& place, std::string& value) {
    if (json_value.is_null()) return;
    expect(json_value.is_string(), json_value, place, "a text");
    value = json_value.get<std::string>();
  }
  void read(const json& json_value, const std::string& place, bool& value) {
    if (json_value.is_null()) return;
    expect(json_value.is_boolean(), json_value, place, "true or false");
    value = json_value.get<bool>();
  }
  void read(const json& json_value, const std::string& place, int64_t& value) {
    if (json_value.is_null()) return;
    constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    const bool fits = !json_value.is_number_unsigned() || json_value.get<uint64_t>() <= kMax;
    expect(json_value.is_number_integer() && fits, json_value, place, "a whole number");
    value = json_value.get<int64_t>();
  }
  void read(const json& json_value, const std::string& place, double& value) {
    if (json_value.is_null()) {
      has_holes_ = true;
      value = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    expect(json_value.is_number(), json_value, place, "a number");
    value = json_value.get<double>();
  }
  void read(const json& json_value, const std::string& place, json& value) {
    expect(json_value.is_object(), json_value, place, "an object");
    value = json_value;
  }
  void read(const json& json_value, const std::string& place, FlopTotals& value) {
    try {
      value = flop_totals_from_json(json_value);
    } catch (const std::exception& error) {
      throw baseline_error(fmt::format("{}: not a usable record: \"{}\": {}", source_, place, error.what()));
    }
  }
  void read(const json& json_value, const std::string& place, Metrics& value) {
    Reader inside(json_value, source_, place);
    inside("step_s", value.step_s);
    for (const auto& [key, element] : json_value.items()) {
      if (!element.is_structured()) inside(key.c_str(), value.values[key]);
    }
    value.values.erase("step_s");  // where it is null
  }
  void read(const json& json_value, const std::string& place, std::vector<double>& values) {
    if (json_value.is_null()) return;
    expect(json_value.is_array(), json_value, place, "a list");
    for (const json& element : json_value) {
      expect(element.is_number() || element.is_null(), element, place, "a list of numbers");
      if (!element.is_null()) values.push_back(element.get<double>());
    }
    if (values.size() != json_value.size()) values.clear();
  }
  template <typename T>
  void read(const json& json_value, const std::string& place, std::optional<T>& value) {
    if (json_value.is_null()) return;
    value.emplace();
    if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string> && !std::is_same_v<T, FlopTotals> &&
                  !std::is_same_v<T, std::map<std::string, double>>) {
      if (!read_object(json_value, place, *value)) value.reset();
    } else {
      read(json_value, place, *value);
    }
  }
  template <typename T>
  void read(const json& json_value, const std::string& place, std::vector<T>& values) {
    if (json_value.is_null()) return;
    expect(json_value.is_array(), json_value, place, "a list");
    for (const json& element : json_value) {
      const std::string element_place = fmt::format("{}[{}]", place, values.size());
      read(element, element_place, values.emplace_back());
    }
  }
  template <typename T>
  void read(const json& json_value, const std::string& place, std::map<std::string, T>& values) {
    if (json_value.is_null()) return;
    expect(json_value.is_object(), json_value, place, "an object");
    for (const auto& [key, element] : json_value.items())
      read(element, fmt::format("{}.{}", place, key), values[key]);
  }
  template <typename T>
  void read(const json& json_value, const std::string& place, T& object) {
    if (!json_value.is_null()) read_object(json_value, place, object);
  }
  /// @returns whether every number that must be there was.
  template <typename T>
  bool read_object(const json& json_value, const std::string& place, T& object) {
    Reader inside(json_value, source_, place);
    describe(inside, object);
    return !inside.has_holes();
  }

  const json& object_;
  const std::string& source_;
  std::string place_;
  bool has_holes_ = false;
};

/// The version in "flopmark.record/7"; absent if `schema` is no such text.
std::optional<int> record_version(const json& schema) {
  constexpr std::string_view kSchemaPrefix = "flopmark.record/";
  if (!schema.is_string()) return std::nullopt;
  const auto text = schema.get<std::string>();
  if (text.compare(0, kSchemaPrefix.size(), kSchemaPrefix) != 0) return std::nullopt;
  int version = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + kSchemaPrefix.size(), end, version);
  if (parsed.ec != std::errc() || parsed.ptr != end || version < 1) return std::nullopt;
  return version;
}

void check_schema(const json& object, const std::string& source) {
  if (!object.is_object() || !object.contains("schema")) {
    throw baseline_error(fmt::format("{}: not a flopmark record: it has no \"schema\"", source));
  }
  const json& schema = object["schema"];
  const auto version = record_version(schema);
  if (!version) {
    throw baseline_error(fmt::format("{}: not a flopmark record: its schema is {}, expected \"{}\"", source,
                                     shown(schema), kRecordSchema));
  }
  if (*version > 1) {
    throw baseline_error(fmt::format(
        "{}: written by a newer flopmark: its schema is {}, this one reads up to \"{}\"; update flopmark",
        source, shown(schema), kRecordSchema));
  }
}

void check_essentials(const json& object, const std::string& source) {
  for (const char* key : kRequired) {
    if (object.contains(key) && !object[key].is_null()) continue;
    throw baseline_error(fmt::format("{}: not a usable record: it has no \"{}\"", source, key));
  }
}

/// The block `key`, which only says why.
void read_reason(const json& object, const std::string& source, const char* key,
                 std::optional<std::string>& reason) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return;
  Reader inside(*found, source, key);
  inside("reason", reason);
}

}  // namespace

RunRecord record_from_json(const json& object, const std::string& source) {
  check_schema(object, source);
  check_essentials(object, source);
  RunRecord record;
  Reader reader(object, source, "");
  describe(reader, record);
  read_reason(object, source, "forced", record.forced_reason);
  read_reason(object, source, "anchor", record.anchor_reason);
  if (!is_record_name(record.name)) {
    throw baseline_error(fmt::format(
        "{}: not a usable record: \"name\" must be 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter or "
        "digit, found {}",
        source, shown(object["name"])));
  }
  if (std::find(kStatuses.begin(), kStatuses.end(), record.status) == kStatuses.end()) {
    throw baseline_error(
        fmt::format("{}: not a usable record: \"status\" must be ok, invalid, failed or incomplete, "
                    "found {}",
                    source, shown(object["status"])));
  }
  return record;
}

bool is_record_name(const std::string& name) {
  const auto is_plain = [](char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9');
  };
  const auto is_allowed = [&](char character) {
    return is_plain(character) || character == '.' || character == '_' || character == '-';
  };
  return !name.empty() && name.size() <= 64 && is_plain(name[0]) &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

}  // namespace flopmark
