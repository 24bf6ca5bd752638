#include "config/key_table.h"

#include <algorithm>

#include "config/presets.h"

namespace flopmark {
namespace {

// Upper limits keep products of two or three sizes (parameters, tokens per step) inside int64.
constexpr int64_t kMaxCount = 2147483647;
constexpr int64_t kMaxWidth = 1048576;
constexpr int64_t kMaxSteps = 10000000;
constexpr double kMaxSeconds = 1e8;

constexpr NumberRange kPositive{.above_min = true};
constexpr NumberRange kFraction{.max = 1, .below_max = true};
constexpr const char* kFromPreset = "from the preset";

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
KeyScope plugin_data() {
  return {.data = {"plugin"}};
}
KeyScope language_models() {
  return {.models = {"llama", "gpt2", "bert", "mixtral", "lstm"}};
}
/// All but lstm, which is one operator.
KeyScope models_of_blocks() {
  return {.models = {"llama", "gpt2", "mlp", "resnet", "vit", "bert", "convnet", "mixtral"}};
}
KeyScope transformers() {
  return {.models = {"llama", "gpt2", "vit", "bert", "mixtral"}};
}
KeyScope convolution_nets() {
  return {.models = {"resnet", "convnet"}};
}
KeyScope image_models() {
  return {.models = {"mlp", "resnet", "vit", "convnet"}, .file_model_data = {"images"}};
}

/// What a plug-in may call a model or data set.
StringForm plugin_name() {
  return {"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$", 64, "a name of 1 to 64 characters out of A-Z a-z 0-9 _ . -"};
}
StringForm file_path() {
  return {"", 4096, "the path of a file, 1 to 4096 bytes"};
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const ModelShape& preset : model_presets()) names.push_back(preset.preset);
  return names;
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

std::vector<KeyRow> data_source_rows() {
  return {
      {.path = "data.type",
       .field = +[](RunConfig& c) -> auto& {
         return c.data.type == "plugin" ? c.data.plugin_type : c.data.type;
       },
       .doc = "tokens: ids; text: bytes; images: a folder; tensors: .pt, .npy; synthetic: random values.",
       .values = {"tokens", "text", "images", "cifar10", "tensors", "synthetic"}, .names_of_plugins = true,
       .form = plugin_name()},
      {.path = "data.path", .field = +[](RunConfig& c) -> auto& { return c.data.path; },
       .doc = "File or folder, relative to the config that names it; in --set, to the current folder.",
       .form = file_path(), .scope = {.data = {"tokens", "text", "images", "cifar10", "tensors"}},
       .default_text = "none; must be given"},
      {.path = "data.paths", .field = +[](RunConfig& c) -> auto& { return c.data.paths; },
       .doc = "In place of data.path: one .npy or .pt file per argument of forward, in order.",
       .form = {"", 4096, "an array of 1 to 64 paths of files"}, .scope = {.data = {"tensors"}},
       .default_text = "none"},
      {.path = "data.format", .field = +[](RunConfig& c) -> auto& { return c.data.format; },
       .doc = "Layout of a token file; auto tells by the file's first bytes.",
       .values = {"auto", "raw-uint16", "llmc"}, .scope = {.data = {"tokens"}}},
      {.path = "data.inputs", .field = +[](RunConfig& c) -> auto& { return c.data.inputs; },
       .doc = "Random input per argument of forward: floats normal, whole numbers uniform in [0, high).",
       .scope = {.models = {"torchscript", "exported", "plugin"}, .data = {"synthetic"}},
       .default_text = "an exported model's own; of another none, must be given"},
      {.path = "data.plugin", .field = +[](RunConfig& c) -> auto& { return c.data.plugin; },
       .doc = "Shared library that makes the data set (its code is run); its path as that of data.path.",
       .form = file_path(), .scope = plugin_data(), .default_text = "none"},
      {.path = "data.options", .field = +[](RunConfig& c) -> auto& { return c.data.options; },
       .doc = "What the plug-in's data set is told; a config adds to the options of the one it extends.",
       .scope = plugin_data()},
      {.path = "data.batch_size", .field = +[](RunConfig& c) -> auto& { return c.data.batch_size; },
       .doc = "Samples per micro-batch and rank; with data.inputs the first size of the first of them.",
       .integers = {1, kMaxCount},
       .other_names = {"batch", "micro_batch_size"}},
      {.path = "data.sequence_length",
       .field = +[](RunConfig& c) -> auto& { return c.data.sequence_length; },
       .doc = "Tokens per sample.", .integers = {1, kMaxCount}, .scope = language_models(),
       .other_names = {"seq_len", "seq_length", "block_size", "context_length"}},
      {.path = "data.image_size", .field = +[](RunConfig& c) -> auto& { return c.data.image_size; },
       .doc = "Height and width of an image; pictures are scaled and cut to it. 32 with cifar10.",
       .integers = {1, 65536}, .scope = image_models(),
       .default_text = "from the preset; 224 for a model from a file"},
      {.path = "data.image_channels", .field = +[](RunConfig& c) -> auto& { return c.data.image_channels; },
       .doc = "Channels of an image: 3, or 1 for grey; synthetic ones may have more. 3 with cifar10.",
       .integers = {1, 65536}, .scope = image_models(),
       .default_text = "from the preset; 3 for a model from a file"},
  };
}

std::vector<KeyRow> loader_rows() {
  return {
      {.path = "data.workers", .field = +[](RunConfig& c) -> auto& { return c.data.workers; },
       .doc = "Loader threads; 0: batches are made in the training thread.", .integers = {0, 1024},
       .other_names = {"num_workers"}},
      {.path = "data.prefetch", .field = +[](RunConfig& c) -> auto& { return c.data.prefetch; },
       .doc = "Batches made ahead.", .integers = {1, 65536}, .other_names = {"prefetch_factor"}},
      {.path = "data.pin_memory", .field = +[](RunConfig& c) -> auto& { return c.data.pin_memory; },
       .doc = "Batches lie in page-locked memory, for faster transfers to a GPU."},
      {.path = "data.drop_last", .field = +[](RunConfig& c) -> auto& { return c.data.drop_last; },
       .doc = "Leave out an epoch's short last batch; else it is trained on with the samples it has."},
      {.path = "data.shuffle", .field = +[](RunConfig& c) -> auto& { return c.data.shuffle; },
       .doc = "A new order of the samples in every epoch."},
      {.path = "data.seed", .field = +[](RunConfig& c) -> auto& { return c.data.seed; },
       .doc = "Seed of the order of samples and of synthetic data."},
  };
}

std::vector<KeyRow> optimizer_rows() {
  return {
      {.path = "train.optimizer.type",
       .field = +[](RunConfig& c) -> auto& { return c.train.optimizer.type; },
       .doc = "Update rule.", .values = {"sgd", "adamw"}},
      {.path = "train.optimizer.lr", .field = +[](RunConfig& c) -> auto& { return c.train.optimizer.lr; },
       .doc = "Learning rate.", .other_names = {"learning_rate"}},
      {.path = "train.optimizer.weight_decay",
       .field = +[](RunConfig& c) -> auto& { return c.train.optimizer.weight_decay; },
       .doc = "Weight decay."},
      {.path = "train.optimizer.momentum",
       .field = +[](RunConfig& c) -> auto& { return c.train.optimizer.momentum; },
       .doc = "Momentum.", .numbers = kFraction, .scope = {.optimizers = {"sgd"}}},
      {.path = "train.optimizer.beta1",
       .field = +[](RunConfig& c) -> auto& { return c.train.optimizer.beta1; },
       .doc = "Decay of the gradient's running mean.", .numbers = kFraction,
       .scope = {.optimizers = {"adamw"}}, .other_names = {"betas"}},
      {.path = "train.optimizer.beta2",
       .field = +[](RunConfig& c) -> auto& { return c.train.optimizer.beta2; },
       .doc = "Decay of the squared gradient's running mean.", .numbers = kFraction,
       .scope = {.optimizers = {"adamw"}}, .other_names = {"betas"}},
      {.path = "train.optimizer.eps", .field = +[](RunConfig& c) -> auto& { return c.train.optimizer.eps; },
       .doc = "Added to the root of the squared gradient's running mean.", .numbers = kPositive,
       .scope = {.optimizers = {"adamw"}}, .other_names = {"epsilon"}},
  };
}

std::vector<KeyRow> train_rows() {
  return {
      {.path = "train.precision", .field = +[](RunConfig& c) -> auto& { return c.train.precision; },
       .doc = "Number type of matmuls; mixed: parameters in fp32; fp16-mixed scales the loss as well.",
       .values = {"fp32", "tf32", "bf16-mixed", "bf16", "fp16-mixed"}, .other_names = {"dtype", "amp"}},
      {.path = "train.gradient_accumulation",
       .field = +[](RunConfig& c) -> auto& { return c.train.gradient_accumulation; },
       .doc = "Micro-batches per optimizer step.", .integers = {1, kMaxCount},
       .other_names = {"gradient_accumulation_steps", "grad_accum", "accum"}},
      {.path = "train.gradient_clip", .field = +[](RunConfig& c) -> auto& { return c.train.gradient_clip; },
       .doc = "Largest total norm of the gradients; null: not clipped.", .numbers = kPositive,
       .other_names = {"grad_clip", "clip_grad_norm", "max_grad_norm"}},
      {.path = "train.activation_checkpointing",
       .field = +[](RunConfig& c) -> auto& { return c.train.activation_checkpointing; },
       .doc = "Blocks that run forward again in backward: none, all (full), or every k-th (a number k).",
       .integers = {1, 65536}, .scope = models_of_blocks(),
       .other_names = {"activation_checkpoint", "gradient_checkpointing", "recompute"}},
      {.path = "train.attention_kernel",
       .field = +[](RunConfig& c) -> auto& { return c.train.attention_kernel; },
       .doc = "auto: LibTorch chooses; unfused: every fused kernel off.",
       .values = {"auto", "fused", "unfused"}},
      {.path = "train.channels_last", .field = +[](RunConfig& c) -> auto& { return c.train.channels_last; },
       .doc = "Images and the weights of convolutions lie in memory with their channels last.",
       .scope = convolution_nets(), .other_names = {"memory_format"}},
      {.path = "train.seed", .field = +[](RunConfig& c) -> auto& { return c.train.seed; },
       .doc = "Seed of the initial parameters and of dropout."},
      {.path = "device", .field = +[](RunConfig& c) -> auto& { return c.device; },
       .doc = "Where to train; auto: the first GPU if there is one, else the CPU.",
       .form = {"^(auto|cpu|cuda|cuda:(0|[1-9][0-9]{0,2}))$", 8,
                "auto, cpu, cuda or cuda:N (such as cuda:1)"}},
  };
}

std::vector<KeyRow> measure_rows() {
  return {
      {.path = "measure.warmup_min_steps",
       .field = +[](RunConfig& c) -> auto& { return c.measure.warmup_min_steps; },
       .doc = "Warm-up steps at least.", .integers = {0, kMaxSteps}},
      {.path = "measure.warmup_max_steps",
       .field = +[](RunConfig& c) -> auto& { return c.measure.warmup_max_steps; },
       .doc = "Warm-up steps at most; a run that is not steady by then says so.",
       .integers = {0, kMaxSteps}},
      {.path = "measure.warmup_max_s",
       .field = +[](RunConfig& c) -> auto& { return c.measure.warmup_max_s; },
       .doc = "Warm-up seconds at most.", .numbers = {.max = kMaxSeconds}},
      {.path = "measure.steps", .field = +[](RunConfig& c) -> auto& { return c.measure.steps; },
       .doc = "Timed steps per launch.", .integers = {1, kMaxSteps}},
      {.path = "measure.repeats", .field = +[](RunConfig& c) -> auto& { return c.measure.repeats; },
       .doc = "Launches, a fresh process each.", .integers = {1, 10000}},
      {.path = "measure.timeout_s", .field = +[](RunConfig& c) -> auto& { return c.measure.timeout_s; },
       .doc = "Seconds after which a launch is stopped.",
       .numbers = {.max = kMaxSeconds, .above_min = true}},
      {.path = "measure.threads", .field = +[](RunConfig& c) -> auto& { return c.measure.threads; },
       .doc = "Threads of LibTorch's operators; 0: all usable cores.", .integers = {0, 4096}},
      {.path = "measure.attention_convention",
       .field = +[](RunConfig& c) -> auto& { return c.measure.attention_convention; },
       .doc = "Attention's FLOPs: full, or causal: half where is_causal is set on a square shape.",
       .values = {"full", "causal"}},
      {.path = "measure.loader", .field = +[](RunConfig& c) -> auto& { return c.measure.loader; },
       .doc = "both: a second pass on one batch made before, to know what the loader costs; not in ab.",
       .values = {"normal", "both"}},
      {.path = "peak.flop_per_s", .field = +[](RunConfig& c) -> auto& { return c.peak_flop_per_s; },
       .doc = "Dense peak of one device that MFU divides by, in FLOP/s; null: from the table.",
       .numbers = kPositive},
  };
}
// clang-format on

}  // namespace

const std::vector<KeyRow>& config_keys() {
  static const std::vector<KeyRow> kRows = [] {
    std::vector<KeyRow> rows;
    for (const auto& make :
         {name_rows, model_rows, data_source_rows, loader_rows, optimizer_rows, train_rows, measure_rows}) {
      for (KeyRow& row : make()) rows.push_back(std::move(row));
    }
    return rows;
  }();
  return kRows;
}

const std::vector<SectionRow>& config_sections() {
  static const std::vector<SectionRow> kSections = {
      {"model", "What is trained."},    {"data", "What it is trained on."},
      {"train", "How a step is made."}, {"train.optimizer", "How parameters are updated."},
      {"measure", "How it is timed."},  {"peak", "What the device could do at best."},
  };
  return kSections;
}

const KeyRow* find_key(const std::string& path) {
  const auto& rows = config_keys();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const KeyRow& r) { return r.path == path; });
  return row == rows.end() ? nullptr : &*row;
}

bool is_section(const std::string& path) {
  const auto& sections = config_sections();
  return path.empty() ||
         std::any_of(sections.begin(), sections.end(), [&](const SectionRow& s) { return s.path == path; });
}

std::string parent_of(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

std::string leaf_of(const std::string& path) {
  return path.substr(path.rfind('.') + 1);
}

}  // namespace flopmark
