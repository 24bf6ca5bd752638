#include "models/mlp.h"

#include <fmt/format.h>

#include <cmath>

#include "flopmark/error.h"

namespace flopmark {
namespace {

/// As torch.nn.Linear starts: weight (Kaiming with a = sqrt 5) and bias uniform within 1 / sqrt(in).
LinearOptions linear_options(int64_t in, int64_t out) {
  const auto uniform = InitialValue::uniform(1.0 / std::sqrt(static_cast<double>(in)));
  return {in, out, uniform, uniform};
}

}  // namespace

Mlp::Mlp(const ModelShape& shape, const ModelOptions& options)
    : BuiltInModel(options), input_size_(shape.input_size) {
  int64_t width = shape.input_size;
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    const auto path = fmt::format("hidden.{}", layer);
    const auto linear = make_linear(parameters_, path, linear_options(width, shape.hidden_size));
    hidden_.push_back({place_block(path, layer), linear});
    width = shape.hidden_size;
  }
  head_ = make_linear(parameters_, "head", linear_options(width, shape.classes));
  parameters_.initialise(options.seed);
}

torch::Tensor Mlp::logits(const torch::Tensor& images) {
  auto x = images.flatten(1);
  if (x.size(1) != input_size_) {
    throw usage_error(
        fmt::format("model.input_size: {}, but an image has {} values (channels x height x width); "
                    "make the two equal",
                    input_size_, x.size(1)));
  }
  x = x.to(head_.weight.scalar_type());
  for (const auto& block : hidden_) {
    x = run_block(block.place, x,
                  [&block](const torch::Tensor& input) { return block.linear(input).relu_(); });
  }
  return head_(x);
}

}  // namespace flopmark
