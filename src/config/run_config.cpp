#include "config/run_config.h"

#include <fmt/format.h>

#include "config/config_layer.h"
#include "config/key_scope.h"
#include "config/key_value.h"
#include "config/model_ending.h"
#include "config/resolve.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The file's stem, if it is a name.
std::string default_name(const fs::path& file) {
  RunConfig config;
  const KeyRow& row = *find_key("name");
  const std::string stem = file.stem().string();
  if (!assign_value(row, stem, config)) {
    throw usage_error(fmt::format("{}: the file's name {} cannot be the run's name ({}); set \"name\"",
                                  file.string(), quoted_text(stem), row.form.text));
  }
  return config.name;
}

/// The object at a dotted path, made if it is not there.
json& section_at(json& root, const std::string& path) {
  return path.empty() ? root : section_at(root, parent_of(path))[leaf_of(path)];
}

[[noreturn]] void not_resolved(const std::string& why) {
  throw Error(ExitCode::internal, fmt::format("not a resolved config: {}; please report this", why));
}

/// A name or preset that is not set is left out, as only code makes such configs; so is the loss of a model
/// that computes it itself, what an exported model says of its inputs, and of data.path and data.paths the
/// one that is not used.
bool may_be_absent(const KeyRow& row, const RunConfig& config) {
  if (row.path == "data.inputs" || row.path == "data.batch_size") return config.model.type == "exported";
  return row.path == "name" || row.path == "model.preset" || row.path == "model.loss" ||
         row.path == "data.path" || row.path == "data.paths";
}

/// The keys of `parallel` say nothing of one rank.
bool is_idle(const KeyRow& row, const RunConfig& config) {
  return config.parallel.ranks == 1 && parent_of(row.path) == "parallel";
}

bool is_unset(const json& value) {
  return value == "" || value == json::array() || value == 0;
}

bool is_model_file(const fs::path& file) {
  const std::string ending = model_ending(file);
  return ending == ".pt" || ending == ".pt2";
}

/// What a config would give that names this model and nothing else.
ConfigLayer layer_of_model(const fs::path& file) {
  std::error_code error;
  const fs::path folder = fs::absolute(file, error).parent_path();
  const char* key = model_ending(file) == ".pt2" ? "exported" : "torchscript";
  ConfigLayer layer;
  add_object({{"model", {{key, file.filename().string()}}}}, {file.string(), {}, folder}, layer);
  return layer;
}

}  // namespace

RunConfig load_config(const fs::path& file, const std::vector<std::string>& sets) {
  if (!is_model_file(file)) check_no_model(file);
  ConfigLayer layer = is_model_file(file) ? layer_of_model(file) : read_config_files(file);
  for (const std::string& assignment : sets) add_set(assignment, layer);
  check_model_kind(layer, file);
  RunConfig config = resolve_values(layer, file.string());
  check_data_file(config, layer);
  if (config.name.empty()) config.name = default_name(file);
  config.file = file;
  return config;
}

json whole_json(const RunConfig& config) {
  json object = json::object();
  for (const KeyRow& row : config_keys()) {
    if (!applies_to(row, config)) continue;
    json value = value_of(row, config);
    if (may_be_absent(row, config) && is_unset(value)) continue;
    section_at(object, parent_of(row.path))[leaf_of(row.path)] = std::move(value);
  }
  return object;
}

json to_json(const RunConfig& config) {
  json object = whole_json(config);
  if (config.parallel.ranks == 1) object.erase("parallel");
  return object;
}

RunConfig config_from_resolved(const json& json) try {
  ConfigLayer layer;
  add_object(json, {"resolved config", {}, {}}, layer);
  RunConfig config = resolve_values(layer, "resolved config");
  if (layer.find("model.preset") == layer.end()) config.model.preset.clear();
  for (const KeyRow& row : config_keys()) {
    const bool missing = applies_to(row, config) && layer.find(row.path) == layer.end();
    if (missing && !may_be_absent(row, config) && !is_idle(row, config))
      not_resolved(row.path + " is missing");
  }
  return config;
} catch (const Error& error) {
  if (error.code() == ExitCode::internal) throw;
  not_resolved(error.what());
}

}  // namespace flopmark
