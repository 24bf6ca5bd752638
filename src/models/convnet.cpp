#include "models/convnet.h"

#include <fmt/format.h>

#include <cmath>

#include "models/shape_checks.h"

namespace flopmark {

Convnet::Convnet(const ModelShape& shape, const ModelOptions& options)
    : BuiltInModel(options), image_channels_(checked_stages(shape).image_channels) {
  int64_t width = shape.hidden_size;
  stem_ = make_normed_convolution(parameters_, "conv1", "bn1",
                                  {.in = image_channels_, .out = width, .kernel = 3, .stride = 2});
  blocks_.push_back(make_block(width, 2 * width, 1));
  width *= 2;
  for (const int64_t count : shape.stage_blocks) {
    for (int64_t i = 0; i < count; ++i) {
      blocks_.push_back(make_block(i == 0 ? width : 2 * width, 2 * width, i == 0 ? 2 : 1));
    }
    width *= 2;
  }
  const auto uniform = InitialValue::uniform(1.0 / std::sqrt(static_cast<double>(width)));
  head_ = make_linear(parameters_, "fc", {width, shape.classes, uniform, uniform});
  parameters_.initialise(options.seed);
}

Convnet::Block Convnet::make_block(int64_t in, int64_t out, int64_t stride) {
  const auto index = static_cast<int64_t>(blocks_.size());
  const auto path = fmt::format("blocks.{}", index);
  Block layer;
  layer.depthwise =
      make_normed_convolution(parameters_, path + ".depthwise", path + ".bn1",
                              {.in = in, .out = in, .kernel = 3, .stride = stride, .groups = in});
  layer.pointwise =
      make_normed_convolution(parameters_, path + ".pointwise", path + ".bn2", {.in = in, .out = out});
  layer.place = place_block(path, index);
  return layer;
}

torch::Tensor Convnet::logits(const torch::Tensor& images) {
  check_images(images, image_channels_);
  auto x = stem_(images.to(head_.weight.scalar_type())).relu_();
  for (const auto& layer : blocks_) {
    x = run_block(layer.place, x, [&layer](const torch::Tensor& input) {
      return layer.pointwise(layer.depthwise(input).relu_()).relu_();
    });
  }
  return head_(x.mean({2, 3}));
}

}  // namespace flopmark
