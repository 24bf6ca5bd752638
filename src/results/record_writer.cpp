#include <cmath>

#include "results/record_fields.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

using nlohmann::json;

/// Fills a JSON object from a struct.
class Writer {
 public:
  template <typename T>
  using Of = const T;

  template <typename T>
  void operator()(const char* key, const T& value) {
    object_[key] = value_of(value);
  }
  template <typename T>
  static json object_of(const T& object) {
    Writer writer;
    describe(writer, object);
    return writer.object_;
  }

 private:
  static json value_of(const std::string& value) { return value; }
  static json value_of(bool value) { return value; }
  static json value_of(int64_t value) { return value; }
  static json value_of(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
  static json value_of(const FlopTotals& totals) { return to_json(totals); }

  static json value_of(const json& value) {
    if (value.is_number_float()) return value_of(value.get<double>());
    if (!value.is_structured()) return value;
    json copy = value;
    for (auto& element : copy) element = value_of(json(element));
    return copy;
  }
  static json value_of(const Metrics& metrics) {
    json object = value_of(metrics.values);
    object["step_s"] = value_of(metrics.step_s);
    return object;
  }
  template <typename T>
  static json value_of(const std::optional<T>& value) {
    return value ? value_of(*value) : json(nullptr);
  }
  template <typename T>
  static json value_of(const std::vector<T>& values) {
    json array = json::array();
    for (const auto& value : values) array.push_back(value_of(value));
    return array;
  }
  template <typename T>
  static json value_of(const std::map<std::string, T>& values) {
    json object = json::object();
    for (const auto& [key, value] : values) object[key] = value_of(value);
    return object;
  }
  template <typename T>
  static json value_of(const T& object) {
    return object_of(object);
  }

  json object_ = json::object();
};

/// What only a job of several ranks has.
void erase_unused(json& record) {
  if (record["ranks"].empty()) record.erase("ranks");
  if (record["communication"].is_null()) record.erase("communication");
  json& failure = record["failure"];
  for (const char* key : {"rank", "host"}) {
    if (failure.is_object() && failure[key].is_null()) failure.erase(key);
  }
}

}  // namespace

json to_json(const RunRecord& record) {
  json object = Writer::object_of(record);
  object["schema"] = kRecordSchema;
  object["forced"] = record.forced_reason ? json{{"reason", *record.forced_reason}} : json(nullptr);
  if (record.anchor_reason) object["anchor"] = {{"reason", *record.anchor_reason}};
  erase_unused(object);
  for (json& repeat : object["repeats"]) {
    if (repeat["step_s"].empty()) repeat.erase("step_s");  // a baseline has none
    if (repeat["skipped_steps"].is_null()) repeat.erase("skipped_steps");
  }
  return object;
}

}  // namespace flopmark
