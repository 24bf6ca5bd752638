#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "hardware/environment_fields.h"
#include "measure/conditions_fields.h"
#include "measure/json_fields.h"

namespace flopmark {

/// Fills a JSON object from a described struct (`describe`, see conditions_fields.h); absent is null.
class DescribedWriter {
 public:
  template <typename T>
  using Of = const T;

  template <typename T>
  void operator()(const char* key, const T& value) {
    object_[key] = json_of(value);
  }
  template <typename T>
  static nlohmann::json json_of(const T& value) {
    if constexpr (std::is_constructible_v<nlohmann::json, T>) {
      return value;
    } else {
      DescribedWriter writer;
      describe(writer, value);
      return writer.object_;
    }
  }
  template <typename T>
  static nlohmann::json json_of(const std::optional<T>& value) {
    return value ? json_of(*value) : nlohmann::json(nullptr);
  }

 private:
  nlohmann::json object_ = nlohmann::json::object();
};

/// Fills a described struct from a JSON object: strict about types; what is optional may be null or missing.
/// @throws std::runtime_error that names the key.
class DescribedReader {
 public:
  template <typename T>
  using Of = T;

  explicit DescribedReader(const nlohmann::json& object) : object_(object) {}

  void operator()(const char* key, int64_t& value) { value = count_field(object_, key); }
  void operator()(const char* key, double& value) { value = number_field(object_, key); }
  void operator()(const char* key, bool& value) { value = bool_field(object_, key); }
  void operator()(const char* key, std::string& value) { value = text_field(object_, key); }
  void operator()(const char* key, std::vector<double>& values) { values = numbers_field(object_, key); }
  template <typename T>
  void operator()(const char* key, std::optional<T>& value) {
    if (!object_.is_object() || !object_.contains(key) || object_.at(key).is_null()) return;
    (*this)(key, value.emplace());
  }
  template <typename T>
  void operator()(const char* key, std::map<std::string, T>& values) {
    const nlohmann::json& inside = field(object_, key);
    if (!inside.is_object()) throw std::runtime_error(std::string("key \"") + key + "\" must be an object");
    DescribedReader reader(inside);
    for (const auto& [name, value] : inside.items()) reader(name.c_str(), values[name]);
  }
  template <typename T>
  void operator()(const char* key, T& object) {
    DescribedReader reader(field(object_, key));
    describe(reader, object);
  }

 private:
  const nlohmann::json& object_;
};

}  // namespace flopmark
