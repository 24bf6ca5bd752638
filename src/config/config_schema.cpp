#include <cmath>

#include "config/input_list.h"
#include "config/key_scope.h"
#include "config/key_table.h"
#include "config/key_value.h"
#include "config/run_config.h"

namespace flopmark {
namespace {

using nlohmann::json;

/// The constraints of one key, by the type of its place.
struct Constraints {
  const KeyRow& row;

  json operator()(int64_t& (*)(RunConfig&)) const {
    return {{"type", "integer"}, {"minimum", row.integers.min}, {"maximum", row.integers.max}};
  }
  json operator()(double& (*)(RunConfig&)) const { return number("number"); }
  json operator()(bool& (*)(RunConfig&)) const { return {{"type", "boolean"}}; }
  json operator()(std::string& (*)(RunConfig&)) const {
    if (!row.values.empty() && !row.names_of_plugins) return {{"type", "string"}, {"enum", row.values}};
    json schema = {{"type", "string"}, {"minLength", 1}, {"maxLength", row.form.max_length}};
    if (row.names_of_plugins) {  // the list is for editors, which offer it
      return {{"anyOf", {{{"enum", row.values}}, {{"type", "string"}, {"pattern", row.form.pattern}}}}};
    }
    if (!row.form.pattern.empty()) schema["pattern"] = row.form.pattern;
    return schema;
  }
  json operator()(CheckpointInterval& (*)(RunConfig&)) const {
    return {{"anyOf",
             {{{"type", "string"}, {"enum", {"none", "full"}}},
              {{"type", "integer"}, {"minimum", row.integers.min}, {"maximum", row.integers.max}}}}};
  }
  json operator()(std::optional<double>& (*)(RunConfig&)) const {
    return number(json::array({"number", "null"}));
  }
  json operator()(std::vector<InputSpec>& (*)(RunConfig&)) const { return inputs_schema(); }
  json operator()(std::vector<std::string>& (*)(RunConfig&)) const {
    const json entry = {{"type", "string"}, {"minLength", 1}, {"maxLength", row.form.max_length}};
    return {{"type", "array"}, {"items", entry}, {"minItems", 1}, {"maxItems", 64}};
  }
  json operator()(OptionsText& (*)(RunConfig&)) const { return {{"type", "object"}}; }

  json number(const json& type) const {
    const NumberRange& range = row.numbers;
    json schema = {{"type", type}, {range.above_min ? "exclusiveMinimum" : "minimum", range.min}};
    if (std::isfinite(range.max)) schema[range.below_max ? "exclusiveMaximum" : "maximum"] = range.max;
    return schema;
  }
};

json key_schema(const KeyRow& row) {
  json schema = std::visit(Constraints{row}, row.field);
  std::string text = row.doc;
  if (const std::string scope = scope_text(row); !scope.empty()) text += " This key is " + scope + ".";
  if (!row.default_text.empty()) text += " Default: " + row.default_text + ".";
  schema["description"] = text;
  if (row.default_text.empty()) schema["default"] = default_of(row);
  return schema;
}

json object_schema(const std::string& description) {
  return {{"type", "object"},
          {"description", description},
          {"additionalProperties", false},
          {"properties", json::object()}};
}

json& object_at(json& root, const std::string& path) {
  return path.empty() ? root : object_at(root, parent_of(path))["properties"][leaf_of(path)];
}

}  // namespace

json config_schema() {
  json root = object_schema("What flopmark measures and how. Comments are allowed, trailing commas are not.");
  root["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  root["title"] = "flopmark config";
  for (const char* key : {"$schema", "extends"})
    root["properties"][key] = {{"type", "string"}, {"minLength", 1}};
  root["properties"]["$schema"]["description"] = "This schema, for editors; flopmark does not read it.";
  root["properties"]["extends"]["description"] =
      "Another config, relative to this one's folder, whose keys hold unless this one gives them; its name "
      "does not.";
  for (const SectionRow& section : config_sections())
    object_at(root, section.path) = object_schema(section.doc);
  for (const KeyRow& row : config_keys()) {
    object_at(root, parent_of(row.path))["properties"][leaf_of(row.path)] = key_schema(row);
  }
  return root;
}

}  // namespace flopmark
