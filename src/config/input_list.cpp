#include "config/input_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "config/key_value.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

using nlohmann::json;

constexpr size_t kMostInputs = 64;
constexpr size_t kMostDimensions = 8;
constexpr int64_t kLargestSize = 2147483647;
constexpr int64_t kMostValues = int64_t{1} << 36;  // far above any memory, far below an overflow

/// A number type by the name that PyTorch gives it. `most`: what high may be; 0 where it has no meaning.
struct InputType {
  const char* name;
  int64_t most;
};

constexpr InputType kInputTypes[] = {
    {"float32", 0},
    {"float64", 0},
    {"float16", 0},
    {"bfloat16", 0},
    {"int64", std::numeric_limits<int64_t>::max()},
    {"int32", int64_t{1} << 31},
    {"uint8", 256},
    {"bool", 0},
};

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const InputType& type : kInputTypes) names.emplace_back(type.name);
  return names;
}

std::string mismatch(const std::string& path, const json& found, const std::string& expected) {
  return fmt::format("{}: found {}, expected {}", path, found_text(found), expected);
}

std::string read_shape(const json& value, const std::string& path, std::vector<int64_t>& shape) {
  if (!value.is_array() || value.empty() || value.size() > kMostDimensions) {
    return mismatch(path, value,
                    fmt::format("an array of 1 to {} sizes, such as [8, 3, 224, 224]", kMostDimensions));
  }
  int64_t values = 1;
  for (const json& entry : value) {
    const auto size = whole_number(entry);
    if (!size || *size < 1 || *size > kLargestSize) {
      return mismatch(fmt::format("{}[{}]", path, shape.size()), entry,
                      fmt::format("a whole number from 1 to {}", kLargestSize));
    }
    if (*size > kMostValues / values) {
      return fmt::format("{}: has more than {} values; make it smaller", path, kMostValues);
    }
    values *= *size;
    shape.push_back(*size);
  }
  return "";
}

std::string read_type(const json& entry, const std::string& path, InputSpec& input) {
  const auto given = entry.find("dtype");
  if (given == entry.end())
    return path + ".dtype is missing; it is " + fmt::format("one of {}", fmt::join(type_names(), ", "));
  const auto type = std::find_if(std::begin(kInputTypes), std::end(kInputTypes),
                                 [&](const InputType& known) { return *given == known.name; });
  if (type == std::end(kInputTypes)) {
    return mismatch(path + ".dtype", *given, fmt::format("one of {}", fmt::join(type_names(), ", ")));
  }
  input.dtype = type->name;
  const auto high = entry.find("high");
  if (type->most == 0) {
    return high == entry.end()
               ? ""
               : fmt::format("{}.high: is for whole numbers, not for {}; remove it", path, input.dtype);
  }
  if (high == entry.end()) {
    return fmt::format(
        "{}.high is missing: {} values are uniform in [0, high), such as the number of classes", path,
        input.dtype);
  }
  input.high = whole_number(*high);
  if (!input.high || *input.high < 1 || *input.high > type->most) {
    return mismatch(path + ".high", *high, fmt::format("a whole number from 1 to {}", type->most));
  }
  return "";
}

std::string read_input(const json& entry, const std::string& path, InputSpec& input) {
  if (!entry.is_object()) return mismatch(path, entry, "an object with shape and dtype");
  for (const auto& [key, value] : entry.items()) {
    if (key != "shape" && key != "dtype" && key != "high") {
      return fmt::format("{}: unknown key {}; known are shape, dtype, high", path, quoted_text(key));
    }
  }
  const auto shape = entry.find("shape");
  if (shape == entry.end())
    return path + ".shape is missing; it is an array of sizes, such as [8, 3, 224, 224]";
  const std::string problem = read_shape(*shape, path + ".shape", input.shape);
  return problem.empty() ? read_type(entry, path, input) : problem;
}

}  // namespace

std::string read_inputs(const json& value, const std::string& path, std::vector<InputSpec>& inputs) {
  if (!value.is_array() || value.empty() || value.size() > kMostInputs) {
    return mismatch(path, value, inputs_text());
  }
  std::vector<InputSpec> read;
  for (const json& entry : value) {
    InputSpec input;
    std::string problem = read_input(entry, fmt::format("{}[{}]", path, read.size()), input);
    if (!problem.empty()) return problem;
    read.push_back(std::move(input));
  }
  inputs = std::move(read);
  return "";
}

json inputs_to_json(const std::vector<InputSpec>& inputs) {
  json list = json::array();
  for (const InputSpec& input : inputs) {
    list.push_back({{"shape", input.shape}, {"dtype", input.dtype}});
    if (input.high) list.back()["high"] = *input.high;
  }
  return list;
}

json model_data_to_json(const DataConfig& data) {
  json object = {{"batch_size", data.batch_size}};
  if (data.type == "synthetic") object["inputs"] = inputs_to_json(data.inputs);
  return object;
}

void take_model_data(RunConfig& config, const json& model_data) {
  if (model_data.is_null()) return;
  const auto batch =
      model_data.is_object() ? whole_number(model_data.value("batch_size", json())) : std::nullopt;
  std::string problem = batch && *batch > 0 ? "" : "data.batch_size is missing";
  if (problem.empty() && model_data.contains("inputs")) {
    problem = read_inputs(model_data.at("inputs"), "data.inputs", config.data.inputs);
  }
  if (!problem.empty()) {
    throw Error(ExitCode::internal, fmt::format("of the worker: {}; please report this", problem));
  }
  config.data.batch_size = *batch;
}

json inputs_schema() {
  const json size = {{"type", "integer"}, {"minimum", 1}, {"maximum", kLargestSize}};
  const json high = {{"type", "integer"}, {"minimum", 1}};
  const json shape = {{"type", "array"}, {"items", size}, {"minItems", 1}, {"maxItems", kMostDimensions}};
  const json entry = {
      {"type", "object"},
      {"additionalProperties", false},
      {"required", {"shape", "dtype"}},
      {"properties",
       {{"shape", shape}, {"dtype", {{"type", "string"}, {"enum", type_names()}}}, {"high", high}}}};
  return {{"type", "array"}, {"items", entry}, {"minItems", 1}, {"maxItems", kMostInputs}};
}

std::string inputs_text() {
  return fmt::format("an array of 1 to {} objects with shape, dtype ({}) and, for whole numbers, high",
                     kMostInputs, fmt::join(type_names(), ", "));
}

}  // namespace flopmark
