#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace flopmark {

/// Strict readers of one key of an object. Each throws std::runtime_error that names the key if it is missing
/// or has another type; nlohmann's own would turn 1.5 into 1.
const nlohmann::json& field(const nlohmann::json& object, const char* key);
int64_t count_field(const nlohmann::json& object, const char* key);  ///< a whole number from 0 up
double number_field(const nlohmann::json& object, const char* key);
bool bool_field(const nlohmann::json& object, const char* key);
std::string text_field(const nlohmann::json& object, const char* key);
const nlohmann::json& array_field(const nlohmann::json& object, const char* key);
std::vector<double> numbers_field(const nlohmann::json& object, const char* key);  ///< a list of numbers

/// The same; null or a missing key is absent.
std::optional<int64_t> optional_count_field(const nlohmann::json& object, const char* key);
std::optional<double> optional_number_field(const nlohmann::json& object, const char* key);
std::optional<std::string> optional_text_field(const nlohmann::json& object, const char* key);

/// null where there is no value.
template <typename T>
nlohmann::json nullable(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace flopmark
