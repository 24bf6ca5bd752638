#include "config/resolve.h"

#include <algorithm>

#include "config/config_checks.h"
#include "config/key_scope.h"
#include "config/key_value.h"
#include "config/presets.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

std::string given_text(const ConfigLayer& layer, const std::string& key) {
  const auto given = layer.find(key);
  return given == layer.end() ? "" : given->second.value.get<std::string>();
}

/// A key whose value is the file of a whole model, and the keys that may stand beside it.
struct ModelFileKey {
  std::string key;
  std::vector<std::string> beside;
};

const std::vector<ModelFileKey>& model_file_keys() {
  static const std::vector<ModelFileKey> kKeys = {
      {"model.torchscript", {"model.loss"}},
      {"model.exported", {"model.loss"}},
      {"model.plugin", {"model.type", "model.options"}},
  };
  return kKeys;
}

[[noreturn]] void refuse_beside(const ConfigLayer& layer, const std::string& key, const char* of_what,
                                const std::string& file_key) {
  throw usage_error(
      fmt::format("{}: {} is {}, but {} ({}) names a file that holds the whole model; remove one of the two",
                  layer.at(key).origin, key, of_what, file_key, layer.at(file_key).origin));
}

/// A model from a file brings its shape: no other file and no key of a built-in one may stand beside it.
ModelShape shape_from_file(const ConfigLayer& layer, const ModelFileKey& file) {
  for (const ModelFileKey& other : model_file_keys()) {
    if (other.key == file.key || layer.count(other.key) == 0) continue;
    refuse_beside(layer, other.key, "of another model", file.key);
  }
  for (const auto& [key, given] : layer) {
    const bool is_beside = std::find(file.beside.begin(), file.beside.end(), key) != file.beside.end();
    if (parent_of(key) != "model" || key == file.key || is_beside) continue;
    const bool is_of_files = key == "model.loss" || key == "model.options";
    refuse_beside(layer, key, is_of_files ? "for another kind of model file" : "of a built-in model",
                  file.key);
  }
  ModelShape shape;
  shape.type = leaf_of(file.key);
  return shape;
}

/// @throws Error 200 for a type that is none of ours, where no plug-in is named that could have it.
void check_type(const ConfigLayer& layer, const std::string& key, const std::string& plugin) {
  const auto given = layer.find(key);
  if (given == layer.end() || layer.count(plugin) > 0) return;
  const auto& [row, value, origin, folder] = given->second;
  if (!is_listed(*row, value)) throw usage_error(origin + ": " + refusal_text(*row, value));
}

/// The shape that the model keys override: the named preset's, else the default one of the type.
ModelShape starting_shape(const ConfigLayer& layer) {
  for (const ModelFileKey& file : model_file_keys()) {
    if (layer.count(file.key) > 0) return shape_from_file(layer, file);
  }
  check_type(layer, "model.type", "model.plugin");
  const std::string type = given_text(layer, "model.type");
  const std::string name = given_text(layer, "model.preset");
  if (name.empty()) return default_preset(type.empty() ? model_types().front() : type);
  const ModelShape& preset = *find_preset(name);
  if (!type.empty() && type != preset.type) {
    throw usage_error(fmt::format(
        "{}: model.preset \"{}\" is a {} model, but model.type is \"{}\" ({}); change one of them",
        layer.at("model.preset").origin, name, preset.type, type, layer.at("model.type").origin));
  }
  return preset;
}

/// A given path, made absolute.
std::string resolved_path(const std::string& key, const std::string& path, const Checked& checked) {
  const fs::path& folder = checked.layer.at(key).folder;
  std::string absolute = folder.empty() ? path : (folder / path).lexically_normal().string();
  if (!is_utf8(absolute)) {
    checked.fail({key.c_str()}, "{} {}: only paths in UTF-8 can be recorded; rename the folder", key,
                 quoted_text(absolute));
  }
  return absolute;
}

void resolve_paths(RunConfig& config, const Checked& checked) {
  if (config.model.type == "torchscript") {
    config.model.torchscript = resolved_path("model.torchscript", config.model.torchscript, checked);
  }
  if (config.model.type == "exported") {
    config.model.exported = resolved_path("model.exported", config.model.exported, checked);
  }
  if (config.model.type == "plugin") {
    config.model.plugin = resolved_path("model.plugin", config.model.plugin, checked);
  }
  if (config.data.type == "plugin") {
    config.data.plugin = resolved_path("data.plugin", config.data.plugin, checked);
  }
  const bool needed = applies_to(*find_key("data.path"), config);
  if (!needed) return;
  if (!config.data.paths.empty()) {
    if (checked.layer.count("data.path") > 0) {
      checked.fail({"data.paths"}, "data.path and data.paths both name the data; remove one of the two");
    }
    for (std::string& path : config.data.paths) path = resolved_path("data.paths", path, checked);
    return;
  }
  if (checked.layer.count("data.path") == 0) {
    checked.fail({"data.type"}, "data.path is missing: data.type \"{}\" reads a {}; set data.path",
                 config.data.type, holds_pictures(config.data) ? "folder" : "file");
  }
  config.data.path = resolved_path("data.path", config.data.path, checked);
}

/// The size that the data has, or that a model without a preset is usually given.
void set_picture_size(RunConfig& config, const ConfigLayer& layer) {
  const bool from_preset = config.model.image_size > 0 && config.data.type != "cifar10";
  if (!holds_pictures(config.data) || from_preset) return;
  if (layer.count("data.image_size") == 0) config.data.image_size = config.data.type == "cifar10" ? 32 : 224;
  if (layer.count("data.image_channels") == 0) config.data.image_channels = 3;
}

}  // namespace

RunConfig resolve_values(const ConfigLayer& layer, const std::string& where) {
  RunConfig config;
  config.model = starting_shape(layer);
  check_type(layer, "data.type", "data.plugin");
  if (layer.count("data.plugin") > 0) config.data.type = "plugin";
  const bool images = config.model.image_size > 0;
  if (images) {
    config.data.image_size = config.model.image_size;
    config.data.image_channels = config.model.image_channels;
  }
  for (const auto& [key, given] : layer) {
    if (!assign_value(*given.row, given.value, config)) {
      throw Error(ExitCode::internal,
                  fmt::format("{}: a checked value no longer fits; please report this", key));
    }
  }
  if (is_from_file(config.model) && layer.count("data.batch_size") == 0) {
    if (!config.data.inputs.empty()) config.data.batch_size = config.data.inputs.front().shape.front();
    if (config.data.inputs.empty() && config.model.type == "exported") config.data.batch_size = 0;
  }
  set_picture_size(config, layer);
  if (images) {
    config.model.image_size = config.data.image_size;
    config.model.image_channels = config.data.image_channels;
  }
  const Checked checked{config, layer, where};
  check_values(checked);
  resolve_paths(config, checked);
  return config;
}

}  // namespace flopmark
