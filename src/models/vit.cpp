#include "models/vit.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <fmt/format.h>

#include <cmath>

#include "flopmark/error.h"
#include "models/shape_checks.h"

namespace flopmark {
namespace {

void check_vit_shape(const ModelShape& shape) {
  if (shape.patch_size < 1 || shape.image_size < 1 || shape.image_size % shape.patch_size != 0) {
    throw usage_error(
        fmt::format("model.patch_size: {} does not divide data.image_size = {}; use a divisor of it",
                    shape.patch_size, shape.image_size));
  }
}

/// Xavier (Glorot and Bengio 2010) uniform.
InitialValue xavier(int64_t in, int64_t out) {
  return InitialValue::uniform(std::sqrt(6.0 / static_cast<double>(in + out)));
}

constexpr double kVitNormEps = 1e-6;

}  // namespace

Vit::Vit(const ModelShape& shape, const ModelOptions& options)
    : BuiltInModel(options),
      heads_((check_vit_shape(shape), checked_heads(shape))),
      patch_size_(shape.patch_size),
      image_size_(shape.image_size),
      image_channels_(shape.image_channels),
      drop_{shape.dropout} {
  const int64_t hidden = shape.hidden_size, patch = patch_size_, side = image_size_ / patch;
  const auto fan_in = static_cast<double>(image_channels_ * patch * patch);
  class_token_ = parameters_.create("class_token", {1, 1, hidden}, InitialValue::constant(0));
  patches_.path = "conv_proj";
  patches_.weight = parameters_.create("conv_proj.weight", {hidden, image_channels_, patch, patch},
                                       InitialValue::normal(std::sqrt(1 / fan_in)));
  patches_.bias = parameters_.create("conv_proj.bias", {hidden}, InitialValue::constant(0));
  positions_ =
      parameters_.create("encoder.pos_embedding", {1, side * side + 1, hidden}, InitialValue::normal(0.02));
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    blocks_.push_back(make_block(layer, shape));
  }
  norm_ = make_layer_norm(parameters_, "encoder.ln", hidden, kVitNormEps);
  // torchvision starts the head at zero, for fine-tuning; from scratch no gradient would reach the blocks.
  head_ = make_linear(parameters_, "heads.head",
                      {hidden, shape.classes, InitialValue::normal(0.02), InitialValue::constant(0)});
  parameters_.initialise(options.seed);
}

Vit::Block Vit::make_block(int64_t index, const ModelShape& shape) {
  const auto path = fmt::format("encoder.layers.{}", index);
  const int64_t hidden = shape.hidden_size, ffn = shape.ffn_size;
  const auto zero = InitialValue::constant(0), small = InitialValue::normal(1e-6);
  Block layer;
  layer.attention_path = path + ".self_attention";
  layer.ln_1 = make_layer_norm(parameters_, path + ".ln_1", hidden, kVitNormEps);
  layer.attention = make_linear(parameters_, path + ".self_attention.in_proj",
                                {hidden, 3 * hidden, xavier(hidden, 3 * hidden), zero});
  const auto projection = InitialValue::uniform(std::sqrt(1.0 / static_cast<double>(hidden)));
  layer.attention_projection =
      make_linear(parameters_, path + ".self_attention.out_proj", {hidden, hidden, projection, zero});
  layer.ln_2 = make_layer_norm(parameters_, path + ".ln_2", hidden, kVitNormEps);
  layer.mlp = make_linear(parameters_, path + ".mlp.0", {hidden, ffn, xavier(hidden, ffn), small});
  layer.mlp_projection = make_linear(parameters_, path + ".mlp.3", {ffn, hidden, xavier(ffn, hidden), small});
  layer.place = place_block(path, index, /*random=*/shape.dropout > 0);
  return layer;
}

torch::Tensor Vit::attention(const Block& layer, const torch::Tensor& x) const {
  const ModuleScope scope(layer.attention_path);
  // Each of the three is [B, T, heads, head size].
  const auto qkv = layer.attention(x).view({x.size(0), x.size(1), 3, heads_, -1}).unbind(2);
  const auto mixed = at::scaled_dot_product_attention(qkv[0].transpose(1, 2), qkv[1].transpose(1, 2),
                                                      qkv[2].transpose(1, 2));
  return layer.attention_projection(mixed.transpose(1, 2).reshape(x.sizes()));
}

torch::Tensor Vit::block(const Block& layer, const torch::Tensor& x) const {
  const auto attended = x + drop_(attention(layer, layer.ln_1(x)));
  const auto inner = drop_(at::gelu(layer.mlp(layer.ln_2(attended))));
  return attended + drop_(layer.mlp_projection(inner));
}

/// [B, C, H, W] to [B, 1 + patches, hidden].
torch::Tensor Vit::tokens(const torch::Tensor& images) const {
  const auto x = images.to(patches_.weight.scalar_type());
  const ModuleScope scope(patches_.path);
  const auto patches = at::conv2d(x, patches_.weight, patches_.bias, patch_size_).flatten(2).transpose(1, 2);
  const auto first = class_token_.expand({images.size(0), 1, class_token_.size(2)});
  return drop_(at::cat({first, patches}, 1) + positions_);
}

torch::Tensor Vit::logits(const torch::Tensor& images) {
  if (images.dim() != 4 || images.size(1) != image_channels_ || images.size(2) != image_size_ ||
      images.size(3) != image_size_) {
    throw usage_error(fmt::format(
        "data.image_size: the model is made for a batch of images [B, {}, {}, {}], found {}; make "
        "the two equal",
        image_channels_, image_size_, image_size_, c10::str(images.sizes())));
  }
  auto x = tokens(images);
  for (const auto& layer : blocks_) {
    x = run_block(layer.place, x, [this, &layer](const torch::Tensor& input) { return block(layer, input); });
  }
  return head_(norm_(x.select(1, 0)));
}

}  // namespace flopmark
