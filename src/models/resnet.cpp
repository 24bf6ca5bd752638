#include "models/resnet.h"

#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <fmt/format.h>

#include <cmath>

#include "models/shape_checks.h"

namespace flopmark {

Resnet::Resnet(const ModelShape& shape, const ModelOptions& options)
    : BuiltInModel(options), image_channels_(checked_stages(shape).image_channels) {
  stem_ = make_part("", "1", {.in = image_channels_, .out = shape.hidden_size, .kernel = 7, .stride = 2});
  BlockShape next{.in = shape.hidden_size, .width = shape.hidden_size, .bottleneck = shape.bottleneck};
  for (size_t stage = 0; stage < shape.stage_blocks.size(); ++stage) {
    for (int64_t i = 0; i < shape.stage_blocks[stage]; ++i) {
      next.stride = stage > 0 && i == 0 ? 2 : 1;
      blocks_.push_back(make_block(fmt::format("layer{}.{}", stage + 1, i), next));
      next.in = next.out();
    }
    next.width *= 2;
  }
  const auto uniform = InitialValue::uniform(1.0 / std::sqrt(static_cast<double>(next.in)));
  head_ = make_linear(parameters_, "fc", {next.in, shape.classes, uniform, uniform});
  parameters_.initialise(options.seed);
}

/// conv1 and bn1 for the number 1, below `path`.
NormedConvolution Resnet::make_part(const std::string& path, const std::string& number,
                                    const ConvolutionOptions& options) {
  const std::string prefix = path.empty() ? "" : path + ".";
  return make_normed_convolution(parameters_, prefix + "conv" + number, prefix + "bn" + number, options);
}

Resnet::Block Resnet::make_block(const std::string& path, const BlockShape& shape) {
  const int64_t width = shape.width;
  Block layer;
  if (shape.bottleneck) {
    layer.body.push_back(make_part(path, "1", {shape.in, width, 1, 1}));
    layer.body.push_back(make_part(path, "2", {width, width, 3, shape.stride}));
    layer.body.push_back(make_part(path, "3", {width, shape.out(), 1, 1}));
  } else {
    layer.body.push_back(make_part(path, "1", {shape.in, width, 3, shape.stride}));
    layer.body.push_back(make_part(path, "2", {width, width, 3, 1}));
  }
  if (shape.stride != 1 || shape.in != shape.out()) {
    layer.shortcut.push_back(make_normed_convolution(parameters_, path + ".downsample.0",
                                                     path + ".downsample.1",
                                                     {shape.in, shape.out(), 1, shape.stride}));
  }
  layer.place = place_block(path, static_cast<int64_t>(blocks_.size()));
  return layer;
}

torch::Tensor Resnet::block(const Block& layer, const torch::Tensor& x) const {
  auto inner = x;
  for (size_t i = 0; i < layer.body.size(); ++i) {
    inner = i > 0 ? layer.body[i](inner.relu_()) : layer.body[i](inner);
  }
  const auto shortcut = layer.shortcut.empty() ? x : layer.shortcut.front()(x);
  return inner.add_(shortcut).relu_();
}

torch::Tensor Resnet::logits(const torch::Tensor& images) {
  check_images(images, image_channels_);
  auto x = stem_(images.to(head_.weight.scalar_type())).relu_();
  x = at::max_pool2d(x, /*kernel_size=*/3, /*stride=*/2, /*padding=*/1);
  for (const auto& layer : blocks_) {
    x = run_block(layer.place, x, [this, &layer](const torch::Tensor& input) { return block(layer, input); });
  }
  return head_(x.mean({2, 3}));
}

}  // namespace flopmark
