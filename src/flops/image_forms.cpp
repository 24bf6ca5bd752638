#include "flops/image_forms.h"

#include <vector>

#include "flops/checked_math.h"

namespace flopmark {
namespace {

/// Of a forward that costs `forward`, of which `first_layer` needs no gradient of its input.
StepFlop step_on_data(int64_t forward, int64_t first_layer, int64_t attention_recompute = 0) {
  return {forward, checked_multiply(2, forward) - first_layer, attention_recompute};
}

/// Features from input to classes: input, each hidden layer, classes.
std::vector<int64_t> mlp_widths(const ModelShape& shape) {
  std::vector<int64_t> widths(static_cast<size_t>(shape.layers) + 2, shape.hidden_size);
  widths.front() = shape.input_size;
  widths.back() = shape.classes;
  return widths;
}

int64_t vit_patches(const ModelShape& shape) {
  const int64_t side = shape.patch_size > 0 ? shape.image_size / shape.patch_size : 0;
  return checked_multiply(side, side);
}

/// Weights of the convolution that makes a token of every patch.
int64_t vit_patch_matrix(const ModelShape& shape) {
  return checked_product({shape.image_channels, shape.patch_size, shape.patch_size, shape.hidden_size});
}

/// Query, key, value and output, and the two of the feed-forward part.
int64_t vit_block_matrices(const ModelShape& shape) {
  return checked_add(checked_product({4, shape.hidden_size, shape.hidden_size}),
                     checked_product({2, shape.hidden_size, shape.ffn_size}));
}

}  // namespace

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
  for (size_t i = 1; i < widths.size(); ++i) {
    forward = checked_add(forward, checked_product({2, batch_size, widths[i - 1], widths[i]}));
  }
  return step_on_data(forward, checked_product({2, batch_size, widths[0], widths[1]}));
}

/// Besides the matrices: biases of the patches' convolution, of each linear and of the head; two LayerNorms a
/// block and a final one; the class token and its and every patch's position.
int64_t vit_parameters(const ModelShape& shape) {
  const int64_t d = shape.hidden_size;
  const int64_t block = checked_sum({vit_block_matrices(shape), checked_multiply(9, d), shape.ffn_size});
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
  const int64_t matrices = checked_product({2, tokens, shape.layers, vit_block_matrices(shape)});
  const int64_t scores = checked_product({2, shape.layers, tokens, checked_add(patches, 1), d});
  const int64_t head = checked_product({2, batch_size, d, shape.classes});
  return step_on_data(checked_sum({embedding, matrices, scores, scores, head}), embedding, scores);
}

}  // namespace flopmark
