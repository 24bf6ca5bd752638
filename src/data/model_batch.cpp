#include "data/model_batch.h"

#include <fmt/format.h>
#include <torch/types.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "data/masked_tokens.h"
#include "flopmark/counted.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

using Tensors = std::vector<torch::Tensor>;

std::string text_of(const torch::Tensor& tensor) {
  return fmt::format("{} {}", c10::toString(tensor.scalar_type()), c10::str(tensor.sizes()));
}

std::string text_of(const Tensors& tensors) {
  std::string text;
  for (const torch::Tensor& tensor : tensors) text += (text.empty() ? "" : ", ") + text_of(tensor);
  return counted(std::ssize(tensors), "tensor") + " (" + text + ")";
}

/// What is wrong with the values of inputs[index], of which `end` and above are none; empty: nothing. Targets
/// may be MaskedTokens::kNoTarget.
std::string value_fault(const Tensors& inputs, size_t index, int64_t end) {
  const torch::Tensor& values = inputs[index];
  if (values.numel() == 0) return fmt::format("inputs[{}] is empty", index);
  const torch::Tensor given = index == 0 ? values : values.masked_select(values.ne(MaskedTokens::kNoTarget));
  if (given.numel() == 0) return "";
  const auto low = given.min().item<int64_t>(), high = given.max().item<int64_t>();
  if (low >= 0 && high < end) return "";
  return fmt::format("inputs[{}] has the value {}", index, low < 0 ? low : high);
}

bool is_number_of(const torch::Tensor& tensor, torch::Dtype type, int64_t dimensions) {
  return tensor.scalar_type() == type && tensor.dim() == dimensions;
}

/// The masks of bert are made for one type.
bool are_ids(const torch::Tensor& tensor, bool masks) {
  return is_number_of(tensor, torch::kLong, 2) || (!masks && is_number_of(tensor, torch::kInt, 2));
}

/// A kind of model's demands in words, and what of `inputs` does not meet them.
struct Demand {
  std::string wanted, fault;
};

/// The loss reads them in their order, whatever their sizes are.
bool are_targets(const torch::Tensor& tensor, const torch::Tensor& ids) {
  const bool is_flat = tensor.dim() == 1 && tensor.numel() == ids.numel();
  return tensor.scalar_type() == torch::kLong && (is_flat || tensor.sizes() == ids.sizes());
}

/// A class per image, as a column too.
bool are_classes(const torch::Tensor& tensor, int64_t images) {
  return tensor.scalar_type() == torch::kLong && tensor.dim() > 0 && tensor.size(0) == images &&
         tensor.numel() == images;
}

/// Of bert, which makes its own targets, the ids alone are read.
Demand token_demand(const ModelShape& model, const Tensors& inputs) {
  const bool masks = model.type == "bert";
  const std::string longest =
      model.max_sequence_length > 0
          ? fmt::format(", T at most {} (model.max_sequence_length)", model.max_sequence_length)
          : "";
  Demand demand{fmt::format("token ids Long [batch, T]{}{}, from 0 to {} (model.vocab_size - 1)", longest,
                            masks ? "" : ", and as many targets Long [batch, T]", model.vocab_size - 1),
                ""};
  if (masks ? inputs.empty() : inputs.size() != 2) {
    demand.fault = masks ? "there is no tensor" : "there are not two";
  } else if (!are_ids(inputs[0], masks)) {
    demand.fault = "inputs[0] is " + text_of(inputs[0]);
  } else if (model.max_sequence_length > 0 && inputs[0].size(1) > model.max_sequence_length) {
    demand.fault = fmt::format("T is {}", inputs[0].size(1));
  } else if (!masks && !are_targets(inputs[1], inputs[0])) {
    demand.fault = "inputs[1] is " + text_of(inputs[1]);
  }
  for (size_t i = 0; demand.fault.empty() && i < (masks ? 1 : inputs.size()); ++i) {
    demand.fault = value_fault(inputs, i, model.vocab_size);
  }
  return demand;
}

/// An mlp reads an image's values whatever their sizes are.
bool are_images(const ModelShape& model, const torch::Tensor& images) {
  if (images.dim() < 2 || images.is_complex()) return false;
  if (model.input_size > 0) return images.numel() == images.size(0) * model.input_size;
  return images.dim() == 4 && images.size(1) == model.image_channels && images.size(2) == model.image_size &&
         images.size(3) == model.image_size;
}

Demand image_demand(const ModelShape& model, const Tensors& inputs) {
  const std::string images =
      model.input_size > 0
          ? fmt::format("images of {} values (model.input_size)", model.input_size)
          : fmt::format("images [batch, {0}, {1}, {1}] (data.image_channels, data.image_size)",
                        model.image_channels, model.image_size);
  Demand demand{
      fmt::format("{} and classes Long [batch] from 0 to {} (model.classes - 1)", images, model.classes - 1),
      ""};
  if (inputs.size() != 2) {
    demand.fault = "there are not two";
  } else if (!are_images(model, inputs[0])) {
    demand.fault = "inputs[0] is " + text_of(inputs[0]);
  } else if (!are_classes(inputs[1], inputs[0].size(0))) {
    demand.fault = "inputs[1] is " + text_of(inputs[1]);
  } else {
    demand.fault = value_fault(inputs, 1, model.classes);
  }
  return demand;
}

}  // namespace

void check_model_batch(const RunConfig& config, const Dataset& dataset) {
  const ModelShape& model = config.model;
  if (model.vocab_size == 0 && model.classes == 0) return;  // a model from a file: see its own checks
  std::vector<size_t> first(static_cast<size_t>(std::min(config.data.batch_size, dataset.size())));
  std::iota(first.begin(), first.end(), size_t{0});
  const Tensors inputs = dataset.collate(first).inputs;
  const Demand demand = model.vocab_size > 0 ? token_demand(model, inputs) : image_demand(model, inputs);
  if (demand.fault.empty()) return;
  throw usage_error(fmt::format(
      "data.plugin {}: a batch of {} has {}, but model.type {} is trained on {}: {}; change the data "
      "set, or the model",
      config.data.plugin, config.data.plugin_type, text_of(inputs), model.type, demand.wanted, demand.fault));
}

}  // namespace flopmark
