#include "measure/json_fields.h"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

namespace flopmark {
namespace {

[[noreturn]] void refuse(const char* key, const char* wanted, const nlohmann::json& found) {
  std::string text = found.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > 60) {
    text = text.substr(0, 57) + "...";
  }
  throw std::runtime_error(fmt::format("key \"{}\" must be {}, found {}", key, wanted, text));
}

bool is_absent(const nlohmann::json& object, const char* key) {
  return !object.is_object() || !object.contains(key) || object.at(key).is_null();
}

}  // namespace

const nlohmann::json& field(const nlohmann::json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) {
    throw std::runtime_error(fmt::format("key \"{}\" is missing", key));
  }
  return object.at(key);
}

int64_t count_field(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = field(object, key);
  const bool fits =
      !value.is_number_unsigned() || value.get<uint64_t>() <= std::numeric_limits<int64_t>::max();
  if (!value.is_number_integer() || !fits || value.get<int64_t>() < 0) {
    refuse(key, "a whole number from 0 up", value);
  }
  return value.get<int64_t>();
}

double number_field(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = field(object, key);
  if (!value.is_number()) {
    refuse(key, "a number", value);
  }
  return value.get<double>();
}

bool bool_field(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = field(object, key);
  if (!value.is_boolean()) {
    refuse(key, "true or false", value);
  }
  return value.get<bool>();
}

std::string text_field(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = field(object, key);
  if (!value.is_string()) {
    refuse(key, "a text", value);
  }
  return value.get<std::string>();
}

const nlohmann::json& array_field(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = field(object, key);
  if (!value.is_array()) {
    refuse(key, "a list", value);
  }
  return value;
}

std::vector<double> numbers_field(const nlohmann::json& object, const char* key) {
  std::vector<double> values;
  for (const nlohmann::json& value : array_field(object, key)) {
    if (!value.is_number()) {
      throw std::runtime_error(fmt::format("key \"{}\" must be a list of numbers", key));
    }
    values.push_back(value.get<double>());
  }
  return values;
}

std::optional<int64_t> optional_count_field(const nlohmann::json& object, const char* key) {
  return is_absent(object, key) ? std::nullopt : std::optional(count_field(object, key));
}

std::optional<double> optional_number_field(const nlohmann::json& object, const char* key) {
  return is_absent(object, key) ? std::nullopt : std::optional(number_field(object, key));
}

std::optional<std::string> optional_text_field(const nlohmann::json& object, const char* key) {
  return is_absent(object, key) ? std::nullopt : std::optional(text_field(object, key));
}

}  // namespace flopmark
