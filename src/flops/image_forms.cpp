#include "flops/image_forms.h"

#include <utility>
#include <vector>

#include "flops/checked_math.h"

namespace flopmark {
namespace {

/// Of a forward that costs `forward`, of which `first_layer` needs no gradient of its input.
StepFlop step_on_data(int64_t forward, int64_t first_layer, std::vector<int64_t> blocks, int64_t scores = 0) {
  return {forward, checked_multiply(2, forward) - first_layer, scores, std::move(blocks)};
}

/// Features from input to classes: input, each hidden layer, classes.
std::vector<int64_t> mlp_widths(const ModelShape& shape) {
  std::vector<int64_t> widths(static_cast<size_t>(shape.layers) + 2, shape.hidden_size);
  widths.front() = shape.input_size;
  widths.back() = shape.classes;
  return widths;
}

/// One convolution without bias; a batch norm follows each.
struct Convolution {
  int64_t in = 0, out = 0;  ///< channels
  int64_t kernel = 0;       ///< height and width
  int64_t positions = 0;    ///< height x width of the output
  int64_t groups = 1;       ///< as many as channels: depthwise

  int64_t weights() const { return checked_product({in / groups, out, kernel, kernel}); }
};

/// Height of what a window gives that reaches over the border by half its size.
int64_t windows(int64_t height, int64_t kernel, int64_t stride) {
  return height > 0 ? (height + 2 * (kernel / 2) - kernel) / stride + 1 : 0;
}

/// Follows an image through a net of convolutions with a linear head and keeps each that it meets.
struct ConvolutionWalk {
  int64_t channels = 0, height = 0;
  std::vector<Convolution> met = {};
  std::vector<size_t> block_begins = {};  ///< places in `met`; the stem lies before the first

  void convolve(int64_t in, int64_t out, int64_t kernel, int64_t output_height) {
    met.push_back({in, out, kernel, checked_multiply(output_height, output_height)});
  }

  /// Depthwise 3x3 and 1x1.
  void separable_block(int64_t out, int64_t stride) {
    height = windows(height, 3, stride);
    block_begins.push_back(met.size());
    met.push_back({channels, channels, 3, checked_multiply(height, height), channels});
    convolve(channels, out, 1, height);
    channels = out;
  }

  void residual_block(int64_t width, int64_t stride, bool bottleneck) {
    const int64_t after = windows(height, 3, stride);
    const int64_t out = bottleneck ? checked_multiply(4, width) : width;
    block_begins.push_back(met.size());
    if (bottleneck) {
      convolve(channels, width, 1, height);
      convolve(width, width, 3, after);
      convolve(width, out, 1, after);
    } else {
      convolve(channels, out, 3, after);
      convolve(out, out, 3, after);
    }
    if (stride != 1 || channels != out) convolve(channels, out, 1, after);
    channels = out;
    height = after;
  }
};

/// The stem's 7x7 of stride 2 and 3x3 pooling of stride 2, then four stages, each but the first of stride 2.
ConvolutionWalk walk_resnet(const ModelShape& shape) {
  ConvolutionWalk walk{shape.hidden_size, windows(shape.image_size, 7, 2)};
  walk.convolve(shape.image_channels, shape.hidden_size, 7, walk.height);
  walk.height = windows(walk.height, 3, 2);
  int64_t width = shape.hidden_size;
  for (size_t stage = 0; stage < shape.stage_blocks.size(); ++stage) {
    for (int64_t i = 0; i < shape.stage_blocks[stage]; ++i) {
      walk.residual_block(width, stage > 0 && i == 0 ? 2 : 1, shape.bottleneck);
    }
    width = checked_multiply(2, width);
  }
  return walk;
}

/// A 3x3 of stride 2 and a block that doubles the width, then four stages whose first blocks have stride 2
/// and double it again.
ConvolutionWalk walk_convnet(const ModelShape& shape) {
  ConvolutionWalk walk{shape.hidden_size, windows(shape.image_size, 3, 2)};
  walk.convolve(shape.image_channels, shape.hidden_size, 3, walk.height);
  int64_t width = checked_multiply(2, shape.hidden_size);
  walk.separable_block(width, 1);
  for (const int64_t count : shape.stage_blocks) {
    width = checked_multiply(2, width);
    for (int64_t i = 0; i < count; ++i) walk.separable_block(width, i == 0 ? 2 : 1);
  }
  return walk;
}

/// Weights of the convolutions, gain and bias of the norms, and the head.
int64_t parameters_of(const ConvolutionWalk& walk, int64_t classes) {
  int64_t parameters = checked_multiply(checked_add(walk.channels, 1), classes);
  for (const Convolution& one : walk.met) {
    parameters = checked_sum({parameters, one.weights(), one.out, one.out});
  }
  return parameters;
}

StepFlop flop_of(const ConvolutionWalk& walk, int64_t classes, int64_t batch_size) {
  const auto flop = [&](const Convolution& one) {
    return checked_product({2, batch_size, one.positions, one.weights()});
  };
  int64_t forward = checked_product({2, batch_size, walk.channels, classes});
  std::vector<int64_t> blocks(walk.block_begins.size(), 0);
  size_t block = 0;  // from 1; 0 is the stem
  for (size_t i = 0; i < walk.met.size(); ++i) {
    const int64_t one = flop(walk.met[i]);
    if (block < blocks.size() && walk.block_begins[block] == i) ++block;
    if (block > 0) blocks[block - 1] = checked_add(blocks[block - 1], one);
    forward = checked_add(forward, one);
  }
  return step_on_data(forward, flop(walk.met.front()), std::move(blocks));
}

int64_t vit_patches(const ModelShape& shape) {
  const int64_t side = shape.patch_size > 0 ? shape.image_size / shape.patch_size : 0;
  return checked_multiply(side, side);
}

/// Weights of the convolution that makes a token of every patch.
int64_t vit_patch_matrix(const ModelShape& shape) {
  return checked_product({shape.image_channels, shape.patch_size, shape.patch_size, shape.hidden_size});
}

}  // namespace

int64_t encoder_block_matrices(const ModelShape& shape) {
  return checked_add(checked_product({4, shape.hidden_size, shape.hidden_size}),
                     checked_product({2, shape.hidden_size, shape.ffn_size}));
}

int64_t mlp_parameters(const ModelShape& shape) {
  const auto widths = mlp_widths(shape);
  int64_t parameters = 0;
  for (size_t i = 1; i < widths.size(); ++i) {
    parameters = checked_sum({parameters, checked_multiply(widths[i - 1], widths[i]), widths[i]});
  }
  return parameters;
}

StepFlop mlp_flop(const ModelShape& shape, int64_t batch_size) {
  const auto widths = mlp_widths(shape);
  int64_t forward = 0;
  std::vector<int64_t> layers;
  for (size_t i = 1; i < widths.size(); ++i) {
    layers.push_back(checked_product({2, batch_size, widths[i - 1], widths[i]}));
    forward = checked_add(forward, layers.back());
  }
  const int64_t first = layers.front();
  layers.pop_back();  // the head is no block
  return step_on_data(forward, first, std::move(layers));
}

int64_t resnet_parameters(const ModelShape& shape) {
  return parameters_of(walk_resnet(shape), shape.classes);
}

StepFlop resnet_flop(const ModelShape& shape, int64_t batch_size) {
  return flop_of(walk_resnet(shape), shape.classes, batch_size);
}

int64_t convnet_parameters(const ModelShape& shape) {
  return parameters_of(walk_convnet(shape), shape.classes);
}

StepFlop convnet_flop(const ModelShape& shape, int64_t batch_size) {
  return flop_of(walk_convnet(shape), shape.classes, batch_size);
}

/// Besides the matrices: biases of the patches' convolution, of each linear and of the head; two LayerNorms a
/// block and a final one; the class token and its and every patch's position.
int64_t vit_parameters(const ModelShape& shape) {
  const int64_t d = shape.hidden_size;
  const int64_t block = checked_sum({encoder_block_matrices(shape), checked_multiply(9, d), shape.ffn_size});
  const int64_t tokens = checked_add(vit_patches(shape), 1);
  const int64_t head = checked_multiply(checked_add(d, 1), shape.classes);
  return checked_sum({vit_patch_matrix(shape), d, d, checked_multiply(tokens, d),
                      checked_multiply(shape.layers, block), checked_multiply(2, d), head});
}

/// The head reads the class token only.
StepFlop vit_flop(const ModelShape& shape, int64_t batch_size) {
  const int64_t d = shape.hidden_size;
  const int64_t patches = vit_patches(shape);
  const int64_t tokens = checked_multiply(batch_size, checked_add(patches, 1));
  const int64_t embedding = checked_product({2, batch_size, patches, vit_patch_matrix(shape)});
  const int64_t block_scores = checked_product({2, tokens, checked_add(patches, 1), d});
  const int64_t block =
      checked_sum({checked_product({2, tokens, encoder_block_matrices(shape)}), block_scores, block_scores});
  const int64_t head = checked_product({2, batch_size, d, shape.classes});
  return step_on_data(checked_sum({embedding, checked_multiply(shape.layers, block), head}), embedding,
                      std::vector<int64_t>(static_cast<size_t>(shape.layers), block),
                      checked_multiply(shape.layers, block_scores));
}

}  // namespace flopmark
