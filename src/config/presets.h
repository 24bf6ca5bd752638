#pragma once

#include <string>
#include <vector>

#include "flopmark/model_shape.h"

namespace flopmark {

/// Built-in model presets: llama-tiny, llama-1b, llama-7b, llama-3-8b, llama-3-70b, gpt2-124m ... gpt2-1558m,
/// mlp-784-512-512-10, resnet18 ...
/// resnet152, vit-b-16, vit-l-16, bert-base, bert-large, mobilenet-v1,
/// mixtral-tiny, mixtral-8x7b, mixtral-8x22b, lstm-ptb-medium, lstm-ptb-large.
const std::vector<ModelShape>& model_presets();

/// nullptr if there is no such preset.
const ModelShape* find_preset(const std::string& name);

/// The preset that a config with only this model type starts from: the first of its type.
/// `type` must be one of model_types().
const ModelShape& default_preset(const std::string& type);

/// Names of the built-in model types, in help order.
const std::vector<std::string>& model_types();

}  // namespace flopmark
