#include "config/resolve.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/key_value.h"
#include "config/presets.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

/// What the cross-checks need: the config, and where its values came from.
struct Checked {
  const RunConfig& config;
  const ConfigLayer& layer;
  const std::string& where;

  /// Throws with the place of the first of `keys` that was given, else of the config as a whole.
  template <typename... Args>
  [[noreturn]] void fail(const std::vector<const char*>& keys, fmt::format_string<Args...> text,
                         Args&&... args) const {
    std::string place = where;
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
      const auto given = layer.find(*key);
      if (given != layer.end()) place = given->second.origin;
    }
    throw usage_error(place + ": " + fmt::format(text, std::forward<Args>(args)...));
  }
};

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

void check_scopes(const Checked& checked) {
  for (const auto& [key, given] : checked.layer) {
    const std::string conflict = scope_conflict(*given.row, checked.config);
    if (!conflict.empty()) checked.fail({key.c_str()}, "{} {}; remove it or change the type", key, conflict);
  }
}

bool holds_pictures(const DataConfig& data) {
  return data.type == "images" || data.type == "cifar10";
}

/// Tensors of any shape would have to be what a built-in model makes of other data.
void refuse_tensors(const Checked& checked) {
  if (checked.config.data.type != "tensors") return;
  checked.fail({"data.type", "model.type"},
               "data.type \"tensors\" is for models from a file (model.torchscript, model.exported), whose "
               "forward takes them, "
               "but model.type is \"{}\"",
               checked.config.model.type);
}

void check_heads(const Checked& checked) {
  const ModelShape& model = checked.config.model;
  if (model.hidden_size % model.heads != 0) {
    checked.fail({"model.heads", "model.hidden_size"}, "model.heads {} does not divide model.hidden_size {}",
                 model.heads, model.hidden_size);
  }
  if (model.kv_heads == 0) return;
  if (model.heads % model.kv_heads != 0) {
    checked.fail({"model.kv_heads", "model.heads"}, "model.kv_heads {} does not divide model.heads {}",
                 model.kv_heads, model.heads);
  }
  const int64_t head_size = model.hidden_size / model.heads;
  if (head_size % 2 != 0) {
    checked.fail({"model.heads", "model.hidden_size"},
                 "model.hidden_size {} / model.heads {} = {}, but rotary embeddings need an even head size",
                 model.hidden_size, model.heads, head_size);
  }
}

void check_language(const Checked& checked) {
  refuse_tensors(checked);
  if (holds_pictures(checked.config.data)) {
    checked.fail({"data.type", "model.type"},
                 "data.type \"{}\" holds pictures, but model.type \"{}\" reads token ids; use a model for "
                 "images, such as \"resnet\"",
                 checked.config.data.type, checked.config.model.type);
  }
  if (checked.config.model.heads > 0) check_heads(checked);
  const ModelShape& model = checked.config.model;
  if (model.experts_per_token > model.experts) {
    checked.fail({"model.experts_per_token", "model.experts"},
                 "model.experts_per_token {} is more than model.experts {}", model.experts_per_token,
                 model.experts);
  }
  const DataConfig& data = checked.config.data;
  if (model.max_sequence_length > 0 && data.sequence_length > model.max_sequence_length) {
    checked.fail({"data.sequence_length", "model.max_sequence_length"},
                 "data.sequence_length {} is more than model.max_sequence_length {}", data.sequence_length,
                 model.max_sequence_length);
  }
  if (data.type == "text" && model.vocab_size < 256) {
    checked.fail({"model.vocab_size", "data.type"},
                 "model.vocab_size {} is too small for data.type \"text\": bytes need at least 256",
                 model.vocab_size);
  }
}

void check_mlp(const Checked& checked) {
  const DataConfig& data = checked.config.data;
  const int64_t features = data.image_channels * data.image_size * data.image_size;
  if (features != checked.config.model.input_size) {
    checked.fail({"model.input_size", "data.image_size", "data.image_channels"},
                 "model.input_size {} is not data.image_channels {} x data.image_size {} squared = {}",
                 checked.config.model.input_size, data.image_channels, data.image_size, features);
  }
}

void check_vit(const Checked& checked) {
  check_heads(checked);
  const int64_t image = checked.config.data.image_size, patch = checked.config.model.patch_size;
  if (image % patch != 0) {
    checked.fail({"data.image_size", "model.patch_size"},
                 "data.image_size {} is not a multiple of model.patch_size {}", image, patch);
  }
}

void check_pictures(const Checked& checked) {
  const DataConfig& data = checked.config.data;
  if (data.type == "images" && data.image_channels != 1 && data.image_channels != 3) {
    checked.fail({"data.image_channels", "data.type"},
                 "data.image_channels {}: pictures are read in 3 channels, or in 1 as grey",
                 data.image_channels);
  }
  if (data.type == "cifar10" && (data.image_size != 32 || data.image_channels != 3)) {
    checked.fail(
        {"data.image_size", "data.image_channels", "data.type"},
        "data.image_size {} and data.image_channels {}, but pictures of data.type \"cifar10\" are 32 x "
        "32 in 3 channels; remove both",
        data.image_size, data.image_channels);
  }
}

void check_images(const Checked& checked) {
  const RunConfig& config = checked.config;
  refuse_tensors(checked);
  if (config.data.type != "synthetic" && config.data.type != "plugin" && !holds_pictures(config.data)) {
    checked.fail({"data.type", "model.type"},
                 "data.type \"{}\" is for language models, but model.type is \"{}\"; use data.type "
                 "\"synthetic\", \"images\" or \"cifar10\"",
                 config.data.type, config.model.type);
  }
  check_pictures(checked);
  if (config.model.type == "mlp") check_mlp(checked);
  if (config.model.type == "vit") check_vit(checked);
}

constexpr const char* kExampleInputs =
    R"([{"shape": [8, 3, 224, 224], "dtype": "float32"}, {"shape": [8], "dtype": "int64", "high": 1000}])";

[[noreturn]] void fail_without_inputs(const Checked& checked, const std::string& file_key) {
  // Of a model file in place of a config the key has no place but the command line.
  const bool no_config = checked.layer.at(file_key).origin == checked.where;
  checked.fail({file_key.c_str()},
               "data.inputs is missing: one entry per argument of the model's forward{}, the first size its "
               "batch; add, with its own sizes, {}",
               checked.config.model.loss.empty() ? "" : " and one for the target of model.loss",
               no_config ? fmt::format("--set 'data.inputs={}'", kExampleInputs)
                         : fmt::format("\"inputs\": {} to \"data\"", kExampleInputs));
}

/// What such a model is called, with its article.
const char* name_of_file_model(const std::string& type) {
  return type == "torchscript" ? "a TorchScript model"
         : type == "exported"  ? "an exported model"
                               : "a plug-in's model";
}

void check_model_from_file(const Checked& checked) {
  const DataConfig& data = checked.config.data;
  const bool exported = checked.config.model.type == "exported";
  const std::string file_key = "model." + checked.config.model.type;
  if (data.type == "tokens" || data.type == "text") {
    checked.fail(
        {"data.type", file_key.c_str()},
        "data.type \"{}\" is for language models; {} is trained on data.type \"synthetic\" with "
        "data.inputs, on \"tensors\", \"images\" or \"cifar10\", or on a plug-in's data (data.plugin)",
        data.type, name_of_file_model(checked.config.model.type));
  }
  check_pictures(checked);
  if (data.type != "synthetic") return;  // data.inputs is of synthetic data only: see its scope
  if (data.inputs.empty()) {
    // An exported model knows its inputs, but not the target that it is not given.
    if (exported && checked.config.model.loss.empty()) return;
    fail_without_inputs(checked, file_key);
  }
  if (!checked.config.model.loss.empty() && data.inputs.size() < 2) {
    checked.fail(
        {"data.inputs", "model.loss"},
        "model.loss \"{}\" compares forward's output with the last of data.inputs, but there is only "
        "one; add the target",
        checked.config.model.loss);
  }
  const int64_t batch = data.inputs.front().shape.front();
  if (data.batch_size != batch) {
    checked.fail({"data.batch_size"},
                 "data.batch_size {} is not the first size of data.inputs[0], {}; remove data.batch_size",
                 data.batch_size, batch);
  }
}

bool is_from_file(const ModelShape& model) {
  return model.type == "torchscript" || model.type == "exported" || model.type == "plugin";
}

/// @throws Error 200 where `plugin` is given and `type` does not say what of it is meant.
void check_plugin_type(const Checked& checked, const char* plugin, const char* type, const char* what) {
  if (checked.layer.count(plugin) == 0 || checked.layer.count(type) > 0) return;
  checked.fail({plugin}, "{} is missing: {} holds {} by name; set {} to the name of one", type, plugin, what,
               type);
}

void check_values(const Checked& checked) {
  check_plugin_type(checked, "model.plugin", "model.type", "models");
  check_plugin_type(checked, "data.plugin", "data.type", "data sets");
  if (is_from_file(checked.config.model)) {
    check_model_from_file(checked);
  } else if (checked.config.model.image_size > 0) {
    check_images(checked);
  } else {
    check_language(checked);
  }
  check_scopes(checked);
  const MeasureConfig& measure = checked.config.measure;
  if (measure.warmup_min_steps > measure.warmup_max_steps) {
    checked.fail({"measure.warmup_max_steps", "measure.warmup_min_steps"},
                 "measure.warmup_min_steps {} is more than measure.warmup_max_steps {}",
                 measure.warmup_min_steps, measure.warmup_max_steps);
  }
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
