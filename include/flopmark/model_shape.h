#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace flopmark {

/// Options of a plug-in's model or data set, as its config gives them: the text of a JSON object.
struct OptionsText {
  std::string json = "{}";
  bool operator==(const OptionsText&) const = default;
};

/// Shape of a built-in model: what its parameters, memory and FLOPs follow from. All counts, no units. Or the
/// file of a model that brings its own.
/// Fields that do not apply to `type` are 0 (or false) and absent from the resolved config.
struct ModelShape {
  /// llama, gpt2, mlp, resnet, vit, bert, convnet, mixtral, lstm; torchscript, exported or plugin: a file holds
  /// the model.
  std::string type;
  std::string preset;  ///< the preset the shape started from; empty for none

  // llama, gpt2, bert, mixtral, lstm and, where it says so, vit
  int64_t vocab_size = 0;
  int64_t hidden_size = 0;          ///< also the width of an mlp's hidden layers, a resnet's first stage, a
                                    ///< convnet's first convolution
  int64_t layers = 0;               ///< blocks; hidden layers of an mlp; recurrent ones of an lstm
  int64_t heads = 0;                ///< vit too
  int64_t kv_heads = 0;             ///< llama and mixtral; divides heads
  int64_t ffn_size = 0;             ///< inner width of the feed-forward part; vit too
  bool tied_embeddings = false;     ///< the head shares the input embedding's weight
  int64_t max_sequence_length = 0;  ///< gpt2 and bert: rows of the learned position embedding
  double dropout = 0.0;             ///< gpt2, bert, lstm and vit, [0, 1)

  // mixtral only
  int64_t experts = 0;            ///< feed-forward parts of a block, of which a router chooses
  int64_t experts_per_token = 0;  ///< of them; at most all

  // mlp, resnet, vit and convnet
  int64_t input_size = 0;      ///< mlp only: features per sample
  int64_t classes = 0;         ///< logits per image
  int64_t image_size = 0;      ///< height and width of an image; in a config data.image_size
  int64_t image_channels = 0;  ///< in a config data.image_channels
  int64_t patch_size = 0;      ///< vit only: height and width of a patch; divides image_size

  // resnet and convnet; both from the preset
  std::array<int64_t, 4> stage_blocks{};  ///< blocks of each stage
  bool bottleneck = false;                ///< resnet only: blocks of 1x1, 3x3, 1x1 instead of two 3x3

  // torchscript and exported only
  std::string torchscript{};  ///< the model's file, absolute; torchscript only
  std::string exported{};     ///< the model's file, absolute; exported only
  std::string loss{};         ///< cross_entropy, mse; empty: forward returns the loss itself

  // plugin only
  std::string plugin{};       ///< the shared library, absolute
  std::string plugin_type{};  ///< which of its models; in a config model.type
  OptionsText options{};

  /// The file of a model that brings its own shape; empty for a built-in one.
  const std::string& file() const {
    return !plugin.empty() ? plugin : exported.empty() ? torchscript : exported;
  }
};

}  // namespace flopmark
