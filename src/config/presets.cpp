#include "config/presets.h"

#include <algorithm>

namespace flopmark {
namespace {

struct Blocks {
  int64_t hidden_size, layers, heads, kv_heads, ffn_size;
};

ModelShape llama(const std::string& preset, int64_t vocab_size, const Blocks& blocks) {
  return {.type = "llama",
          .preset = preset,
          .vocab_size = vocab_size,
          .hidden_size = blocks.hidden_size,
          .layers = blocks.layers,
          .heads = blocks.heads,
          .kv_heads = blocks.kv_heads,
          .ffn_size = blocks.ffn_size};
}

/// The same with `experts` feed-forward parts a block, two of them for each token.
ModelShape mixtral(ModelShape shape, int64_t experts) {
  shape.type = "mixtral";
  shape.experts = experts;
  shape.experts_per_token = 2;
  return shape;
}

ModelShape tied(ModelShape shape) {
  shape.tied_embeddings = true;
  return shape;
}

// Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", table 2, with the released
// models' vocabulary of 50257, context of 1024, tied head and feed-forward width of 4 x hidden.
ModelShape gpt2(const std::string& preset, int64_t hidden_size, int64_t layers, int64_t heads) {
  return {.type = "gpt2",
          .preset = preset,
          .vocab_size = 50257,
          .hidden_size = hidden_size,
          .layers = layers,
          .heads = heads,
          .ffn_size = 4 * hidden_size,
          .tied_embeddings = true,
          .max_sequence_length = 1024};
}

// Devlin et al. 2018, arXiv:1810.04805, section 3, with the released uncased models' vocabulary of 30522 and
// 512 positions.
ModelShape bert(const std::string& preset, int64_t hidden_size, int64_t layers, int64_t heads) {
  return {.type = "bert",
          .preset = preset,
          .vocab_size = 30522,
          .hidden_size = hidden_size,
          .layers = layers,
          .heads = heads,
          .ffn_size = 4 * hidden_size,
          .tied_embeddings = true,
          .max_sequence_length = 512};
}

// Zaremba et al. 2014, arXiv:1409.2329, section 4.1, on the Penn Treebank's vocabulary of 10000.
ModelShape lstm(const std::string& preset, int64_t hidden_size) {
  return {.type = "lstm", .preset = preset, .vocab_size = 10000, .hidden_size = hidden_size, .layers = 2};
}

struct Stages {
  std::array<int64_t, 4> blocks;
  bool bottleneck;
};

// He et al. 2015, arXiv:1512.03385, table 1, with ImageNet's 1000 classes.
ModelShape resnet(const std::string& preset, const Stages& stages) {
  return {.type = "resnet",
          .preset = preset,
          .hidden_size = 64,
          .classes = 1000,
          .image_size = 224,
          .image_channels = 3,
          .stage_blocks = stages.blocks,
          .bottleneck = stages.bottleneck};
}

// Dosovitskiy et al. 2020, arXiv:2010.11929, table 1, with ImageNet's 1000 classes.
ModelShape vit(const std::string& preset, int64_t hidden_size, int64_t layers, int64_t heads) {
  return {.type = "vit",
          .preset = preset,
          .hidden_size = hidden_size,
          .layers = layers,
          .heads = heads,
          .ffn_size = 4 * hidden_size,
          .classes = 1000,
          .image_size = 224,
          .image_channels = 3,
          .patch_size = 16};
}

std::vector<ModelShape> make_presets() {
  return {
      llama("llama-tiny", 256, {64, 2, 4, 2, 176}),
      // Llama 3.2 1B: Grattafiori et al. 2024 and the published config.json; the head is tied.
      tied(llama("llama-1b", 128256, {2048, 16, 32, 8, 8192})),
      // Llama 2 7B: Touvron et al. 2023, and the published config.json.
      llama("llama-7b", 32000, {4096, 32, 32, 32, 11008}),
      // Llama 3: Grattafiori et al. 2024, "The Llama 3 Herd of Models", table 3.
      llama("llama-3-8b", 128256, {4096, 32, 32, 8, 14336}),
      llama("llama-3-70b", 128256, {8192, 80, 64, 8, 28672}),
      gpt2("gpt2-124m", 768, 12, 12),
      gpt2("gpt2-355m", 1024, 24, 16),
      gpt2("gpt2-774m", 1280, 36, 20),
      gpt2("gpt2-1558m", 1600, 48, 25),
      {.type = "mlp",
       .preset = "mlp-784-512-512-10",
       .hidden_size = 512,
       .layers = 2,
       .input_size = 784,
       .classes = 10,
       .image_size = 28,
       .image_channels = 1},
      resnet("resnet50", {{3, 4, 6, 3}, true}),
      resnet("resnet18", {{2, 2, 2, 2}, false}),
      resnet("resnet34", {{3, 4, 6, 3}, false}),
      resnet("resnet101", {{3, 4, 23, 3}, true}),
      resnet("resnet152", {{3, 8, 36, 3}, true}),
      vit("vit-b-16", 768, 12, 12),
      vit("vit-l-16", 1024, 24, 16),
      bert("bert-base", 768, 12, 12),
      bert("bert-large", 1024, 24, 16),
      // Howard et al. 2017, arXiv:1704.04861, table 1; a hidden_size of 16 is its width multiplier 0.5.
      {.type = "convnet",
       .preset = "mobilenet-v1",
       .hidden_size = 32,
       .classes = 1000,
       .image_size = 224,
       .image_channels = 3,
       .stage_blocks = {2, 2, 6, 2}},
      mixtral(llama("mixtral-tiny", 256, {64, 2, 4, 2, 176}), 4),
      // Jiang et al. 2024, arXiv:2401.04088, table 1, and the published config.json of both.
      mixtral(llama("mixtral-8x7b", 32000, {4096, 32, 32, 8, 14336}), 8),
      mixtral(llama("mixtral-8x22b", 32000, {6144, 56, 48, 8, 16384}), 8),
      lstm("lstm-ptb-medium", 650),
      lstm("lstm-ptb-large", 1500),
  };
}

}  // namespace

const std::vector<ModelShape>& model_presets() {
  static const std::vector<ModelShape> kPresets = make_presets();
  return kPresets;
}

const ModelShape* find_preset(const std::string& name) {
  const auto& presets = model_presets();
  const auto found =
      std::find_if(presets.begin(), presets.end(), [&](const ModelShape& p) { return p.preset == name; });
  return found == presets.end() ? nullptr : &*found;
}

const std::vector<std::string>& model_types() {
  static const std::vector<std::string> kTypes = {"llama", "gpt2",    "mlp",     "resnet", "vit",
                                                  "bert",  "convnet", "mixtral", "lstm"};
  return kTypes;
}

const ModelShape& default_preset(const std::string& type) {
  const auto& presets = model_presets();
  return *std::find_if(presets.begin(), presets.end(), [&](const ModelShape& p) { return p.type == type; });
}

}  // namespace flopmark
