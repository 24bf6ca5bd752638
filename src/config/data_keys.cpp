#include "config/key_rows.h"

namespace flopmark {
namespace {

KeyScope plugin_data() {
  return {.data = {"plugin"}};
}

}  // namespace

// A table, two or three lines a row, that clang-format would tear apart.
// clang-format off
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
// clang-format on

}  // namespace flopmark
