#include "config/config_checks.h"

#include "config/key_scope.h"

namespace flopmark {
namespace {

void check_scopes(const Checked& checked) {
  for (const auto& [key, given] : checked.layer) {
    const std::string conflict = scope_conflict(*given.row, checked.config);
    if (!conflict.empty()) checked.fail({key.c_str()}, "{} {}; remove it or change the type", key, conflict);
  }
}

/// Tensors of any shape would have to be what a built-in model makes of other data.
void refuse_tensors(const Checked& checked) {
  if (checked.config.data.type != "tensors") return;
  checked.fail({"data.type", "model.type"},
               "data.type \"tensors\" is for models from a file (model.torchscript, model.exported), whose "
               "forward takes them, but model.type is \"{}\"",
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

/// @throws Error 200 where `plugin` is given and `type` does not say what of it is meant.
void check_plugin_type(const Checked& checked, const char* plugin, const char* type, const char* what) {
  if (checked.layer.count(plugin) == 0 || checked.layer.count(type) > 0) return;
  checked.fail({plugin}, "{} is missing: {} holds {} by name; set {} to the name of one", type, plugin, what,
               type);
}

/// Several ranks need a device each, and a backend that reaches it.
void check_parallel(const Checked& checked) {
  const RunConfig& config = checked.config;
  if (config.parallel.sharding == "zero2" && config.train.precision == "fp16-mixed") {
    checked.fail(
        {"parallel.sharding", "train.precision"},
        "parallel.sharding \"zero2\" does not go with train.precision \"fp16-mixed\": each rank would "
        "scale its loss by itself; use bf16-mixed, or sharding none");
  }
  if (config.parallel.ranks == 1) return;
  if (config.device.starts_with("cuda:")) {
    checked.fail({"device", "parallel.ranks"},
                 "device \"{}\" is one GPU, but parallel.ranks is {} and every rank has its own; set device "
                 "to \"cuda\" and choose the GPUs by CUDA_VISIBLE_DEVICES",
                 config.device, config.parallel.ranks);
  }
  if (config.device == "cpu" && config.parallel.backend == "nccl") {
    checked.fail({"parallel.backend", "device"},
                 "parallel.backend \"nccl\" joins GPUs, but device is \"cpu\"; set parallel.backend to "
                 "\"gloo\" or \"auto\"");
  }
}

}  // namespace

bool holds_pictures(const DataConfig& data) {
  return data.type == "images" || data.type == "cifar10";
}

bool is_from_file(const ModelShape& model) {
  return model.type == "torchscript" || model.type == "exported" || model.type == "plugin";
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
  check_parallel(checked);
  const MeasureConfig& measure = checked.config.measure;
  if (measure.warmup_min_steps > measure.warmup_max_steps) {
    checked.fail({"measure.warmup_max_steps", "measure.warmup_min_steps"},
                 "measure.warmup_min_steps {} is more than measure.warmup_max_steps {}",
                 measure.warmup_min_steps, measure.warmup_max_steps);
  }
}

}  // namespace flopmark
