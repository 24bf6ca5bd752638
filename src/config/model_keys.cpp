#include "config/key_rows.h"
#include "config/presets.h"

namespace flopmark {
namespace {

KeyScope built_in_models() {
  return {.models = model_types()};
}
KeyScope built_in_or_plugin_models() {
  std::vector<std::string> types = model_types();
  types.emplace_back("plugin");
  return {.models = std::move(types)};
}
KeyScope torchscript_models() {
  return {.models = {"torchscript"}};
}
KeyScope exported_models() {
  return {.models = {"exported"}};
}
KeyScope torchscript_or_exported_models() {
  return {.models = {"torchscript", "exported"}};
}
KeyScope plugin_models() {
  return {.models = {"plugin"}};
}
KeyScope transformers() {
  return {.models = {"llama", "gpt2", "vit", "bert", "mixtral"}};
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const ModelShape& preset : model_presets()) names.push_back(preset.preset);
  return names;
}

}  // namespace

KeyScope language_models() {
  return {.models = {"llama", "gpt2", "bert", "mixtral", "lstm"}};
}
KeyScope image_models() {
  return {.models = {"mlp", "resnet", "vit", "convnet"}, .file_model_data = {"images"}};
}

StringForm plugin_name() {
  return {"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$", 64, "a name of 1 to 64 characters out of A-Z a-z 0-9 _ . -"};
}
StringForm file_path() {
  return {"", 4096, "the path of a file, 1 to 4096 bytes"};
}

// A table, two or three lines a row, that clang-format would tear apart.
// clang-format off
std::vector<KeyRow> name_rows() {
  return {
      {.path = "name", .field = +[](RunConfig& c) -> auto& { return c.name; },
       .doc = "Name of the record and the baseline; not inherited through extends.",
       .form = {"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", 64,
                "1 to 64 characters out of A-Z a-z 0-9 . _ -, the first a letter or digit"},
       .default_text = "the config file's name without its extension"},
  };
}

std::vector<KeyRow> model_rows() {
  return {
      {.path = "model.type",
       .field = +[](RunConfig& c) -> auto& {
         return c.model.type == "plugin" ? c.model.plugin_type : c.model.type;
       },
       .doc = "Kind of built-in model; with model.plugin, the name of one of its models.",
       .values = model_types(), .names_of_plugins = true, .form = plugin_name(),
       .scope = built_in_or_plugin_models(), .default_text = "the preset's, else llama"},
      {.path = "model.preset", .field = +[](RunConfig& c) -> auto& { return c.model.preset; },
       .doc = "Published shape to start from; the other model keys override it.", .values = preset_names(),
       .scope = built_in_models(), .default_text = "the first of its type: flopmark list"},
      {.path = "model.vocab_size", .field = +[](RunConfig& c) -> auto& { return c.model.vocab_size; },
       .doc = "Number of token ids.", .integers = {1, kMaxCount}, .scope = language_models(),
       .default_text = kFromPreset, .other_names = {"vocab", "n_vocab"}},
      {.path = "model.hidden_size", .field = +[](RunConfig& c) -> auto& { return c.model.hidden_size; },
       .doc = "Width of the residual stream, of hidden layers, of the first convolutions.",
       .integers = {1, kMaxWidth}, .scope = built_in_models(), .default_text = kFromPreset,
       .other_names = {"dim", "d_model", "n_embd", "width"}},
      {.path = "model.layers", .field = +[](RunConfig& c) -> auto& { return c.model.layers; },
       .doc = "Number of blocks; of an mlp, number of its hidden layers; of an lstm, of recurrent ones.", .integers = {1, 65536},
       .scope = {.models = {"llama", "gpt2", "mlp", "vit", "bert", "mixtral", "lstm"}}, .default_text = kFromPreset,
       .other_names = {"n_layer", "n_layers", "num_layers", "num_hidden_layers", "depth"}},
      {.path = "model.heads", .field = +[](RunConfig& c) -> auto& { return c.model.heads; },
       .doc = "Query heads; divides hidden_size.", .integers = {1, 65536}, .scope = transformers(),
       .default_text = kFromPreset,
       .other_names = {"n_head", "n_heads", "num_heads", "num_attention_heads"}},
      {.path = "model.kv_heads", .field = +[](RunConfig& c) -> auto& { return c.model.kv_heads; },
       .doc = "Key and value heads; divides heads.", .integers = {1, 65536},
       .scope = {.models = {"llama", "mixtral"}}, .default_text = kFromPreset,
       .other_names = {"n_kv_heads", "num_key_value_heads"}},
      {.path = "model.ffn_size", .field = +[](RunConfig& c) -> auto& { return c.model.ffn_size; },
       .doc = "Inner width of the feed-forward part, of each expert.", .integers = {1, 16777216}, .scope = transformers(),
       .default_text = kFromPreset, .other_names = {"intermediate_size", "d_ff"}},
      {.path = "model.experts", .field = +[](RunConfig& c) -> auto& { return c.model.experts; },
       .doc = "Feed-forward parts of a block; a router chooses among them for every token.",
       .integers = {1, 65536}, .scope = {.models = {"mixtral"}}, .default_text = kFromPreset,
       .other_names = {"num_local_experts", "num_experts", "n_experts"}},
      {.path = "model.experts_per_token",
       .field = +[](RunConfig& c) -> auto& { return c.model.experts_per_token; },
       .doc = "Experts that work on a token; at most model.experts.", .integers = {1, 65536},
       .scope = {.models = {"mixtral"}}, .default_text = kFromPreset,
       .other_names = {"num_experts_per_tok", "top_k", "moe_top_k"}},
      {.path = "model.tied_embeddings",
       .field = +[](RunConfig& c) -> auto& { return c.model.tied_embeddings; },
       .doc = "The output layer shares the input embedding's weight.", .scope = language_models(),
       .default_text = kFromPreset, .other_names = {"tie_word_embeddings"}},
      {.path = "model.max_sequence_length",
       .field = +[](RunConfig& c) -> auto& { return c.model.max_sequence_length; },
       .doc = "Rows of the learned position embedding.", .integers = {1, kMaxCount},
       .scope = {.models = {"gpt2", "bert"}}, .default_text = kFromPreset,
       .other_names = {"n_positions", "n_ctx", "max_position_embeddings"}},
      {.path = "model.dropout", .field = +[](RunConfig& c) -> auto& { return c.model.dropout; },
       .doc = "Probability of dropout.", .numbers = kFraction,
       .scope = {.models = {"gpt2", "vit", "bert", "lstm"}}, .default_text = kFromPreset},
      {.path = "model.patch_size", .field = +[](RunConfig& c) -> auto& { return c.model.patch_size; },
       .doc = "Height and width of a patch; divides data.image_size.", .integers = {1, 65536},
       .scope = {.models = {"vit"}}, .default_text = kFromPreset},
      {.path = "model.input_size", .field = +[](RunConfig& c) -> auto& { return c.model.input_size; },
       .doc = "Features per sample: image_channels x image_size squared.", .integers = {1, kMaxCount},
       .scope = {.models = {"mlp"}}, .default_text = kFromPreset},
      {.path = "model.classes", .field = +[](RunConfig& c) -> auto& { return c.model.classes; },
       .doc = "Number of classes.", .integers = {1, kMaxCount}, .scope = {.models = image_models().models},
       .default_text = kFromPreset, .other_names = {"num_classes"}},
      {.path = "model.torchscript", .field = +[](RunConfig& c) -> auto& { return c.model.torchscript; },
       .doc = "A model from torch.jit.save, in place of a built-in one; its path as that of data.path.",
       .form = file_path(), .scope = torchscript_models(),
       .default_text = "none", .other_names = {"jit", "script"}},
      {.path = "model.exported", .field = +[](RunConfig& c) -> auto& { return c.model.exported; },
       .doc = "A model from torch.export.save, in place of a built-in one; its path as that of data.path.",
       .form = file_path(), .scope = exported_models(),
       .default_text = "none", .other_names = {"export", "pt2"}},
      {.path = "model.loss", .field = +[](RunConfig& c) -> auto& { return c.model.loss; },
       .doc = "Loss of forward's output and the last of data.inputs, which forward then is not given.",
       .values = {"cross_entropy", "mse"}, .scope = torchscript_or_exported_models(),
       .default_text = "none: forward gets every input and returns the loss itself"},
      {.path = "model.plugin", .field = +[](RunConfig& c) -> auto& { return c.model.plugin; },
       .doc = "Shared library that makes the model (its code is run); its path as that of data.path.",
       .form = file_path(), .scope = plugin_models(), .default_text = "none", .other_names = {"library"}},
      {.path = "model.options", .field = +[](RunConfig& c) -> auto& { return c.model.options; },
       .doc = "What the plug-in's model is told; a config adds to the options of the one it extends.",
       .scope = plugin_models()},
  };
}
// clang-format on

}  // namespace flopmark
