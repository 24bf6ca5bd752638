#include "flops/observe/meta_kernels.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace flopmark {
namespace {

using at::IntArrayRef;
using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;
using Sizes = std::vector<int64_t>;

std::atomic<bool> fused_attention{true};

Tensor none_unless(bool wanted, const Tensor& like) {
  return wanted ? at::empty_like(like) : Tensor();
}

/// Statistics are kept in float32 whatever the input is.
Tensor statistics(const Tensor& like, IntArrayRef sizes) {
  return like.new_empty(sizes, like.options().dtype(at::kFloat));
}

Tensor index_select(const Tensor& self, int64_t dimension, const Tensor& index) {
  Sizes sizes = self.sizes().vec();
  sizes.at(static_cast<size_t>(dimension < 0 ? dimension + self.dim() : dimension)) = index.numel();
  return self.new_empty(sizes);
}

Tensor embedding_dense_backward(const Tensor& gradient, const Tensor& /*indices*/, c10::SymInt rows,
                                c10::SymInt /*padding*/, bool /*scale*/) {
  return gradient.new_empty({rows.expect_int(), gradient.size(-1)});
}

Three native_layer_norm(const Tensor& input, c10::SymIntArrayRef shape, const OptionalTensor& /*weight*/,
                        const OptionalTensor& /*bias*/, double /*eps*/) {
  Sizes sizes = input.sizes().vec();
  std::fill(sizes.end() - static_cast<int64_t>(shape.size()), sizes.end(), 1);
  return {at::empty_like(input), statistics(input, sizes), statistics(input, sizes)};
}

Three native_layer_norm_backward(const Tensor& gradient, const Tensor& /*input*/, c10::SymIntArrayRef shape,
                                 const Tensor& /*mean*/, const Tensor& /*rstd*/, const OptionalTensor& weight,
                                 const OptionalTensor& /*bias*/, std::array<bool, 3> mask) {
  const Tensor like =
      weight && weight->defined() ? *weight : gradient.new_empty(C10_AS_INTARRAYREF_SLOW(shape));
  return {none_unless(mask[0], gradient), none_unless(mask[1], like), none_unless(mask[2], like)};
}

Three native_batch_norm(const Tensor& input, const OptionalTensor& /*weight*/, const OptionalTensor& /*bias*/,
                        const OptionalTensor& /*mean*/, const OptionalTensor& /*variance*/, bool training,
                        double /*momentum*/, double /*eps*/) {
  const int64_t channels = training ? input.size(1) : 0;
  return {at::empty_like(input), statistics(input, {channels}), statistics(input, {channels})};
}

Three native_batch_norm_backward(const Tensor& gradient, const Tensor& /*input*/,
                                 const OptionalTensor& weight, const OptionalTensor& /*mean*/,
                                 const OptionalTensor& /*variance*/, const OptionalTensor& /*saved_mean*/,
                                 const OptionalTensor& /*saved_scale*/, bool /*training*/, double /*eps*/,
                                 std::array<bool, 3> mask) {
  const Tensor like = weight && weight->defined() ? *weight : gradient.new_empty({gradient.size(1)});
  return {none_unless(mask[0], gradient), none_unless(mask[1], like), none_unless(mask[2], like)};
}

/// Size of the output in each dimension of space (torch.nn.Conv2d, torch.nn.ConvTranspose2d).
Sizes convolved(IntArrayRef input, IntArrayRef weight, const std::array<IntArrayRef, 4>& geometry,
                bool transposed) {
  const auto& [stride, padding, dilation, output_padding] = geometry;
  Sizes sizes;
  const auto at_place = [](IntArrayRef values, size_t i) { return values[std::min(i, values.size() - 1)]; };
  for (size_t i = 0; i + 2 < input.size(); ++i) {
    const int64_t reach = at_place(dilation, i) * (weight[i + 2] - 1);
    const int64_t step = at_place(stride, i), pad = at_place(padding, i);
    sizes.push_back(transposed ? (input[i + 2] - 1) * step - 2 * pad + reach + at_place(output_padding, i) + 1
                               : (input[i + 2] + 2 * pad - reach - 1) / step + 1);
  }
  return sizes;
}

Tensor convolution(const Tensor& input, const Tensor& weight, const OptionalTensor& /*bias*/,
                   c10::SymIntArrayRef stride, c10::SymIntArrayRef padding, c10::SymIntArrayRef dilation,
                   bool transposed, c10::SymIntArrayRef output_padding, c10::SymInt groups) {
  Sizes sizes = convolved(input.sizes(), weight.sizes(),
                          {C10_AS_INTARRAYREF_SLOW(stride), C10_AS_INTARRAYREF_SLOW(padding),
                           C10_AS_INTARRAYREF_SLOW(dilation), C10_AS_INTARRAYREF_SLOW(output_padding)},
                          transposed);
  const int64_t channels = transposed ? weight.size(1) * groups.expect_int() : weight.size(0);
  sizes.insert(sizes.begin(), {input.size(0), channels});
  return input.new_empty(sizes);
}

Three convolution_backward(const Tensor& gradient, const Tensor& input, const Tensor& weight,
                           at::OptionalSymIntArrayRef /*bias_sizes*/, c10::SymIntArrayRef /*stride*/,
                           c10::SymIntArrayRef /*padding*/, c10::SymIntArrayRef /*dilation*/,
                           bool /*transposed*/, c10::SymIntArrayRef /*output_padding*/,
                           c10::SymInt /*groups*/, std::array<bool, 3> mask) {
  return {none_unless(mask[0], input), none_unless(mask[1], weight),
          mask[2] ? gradient.new_empty({gradient.size(1)}) : Tensor()};
}

Tensor where(const Tensor& /*condition*/, const Tensor& self, const Tensor& other) {
  return self.numel() >= other.numel() ? at::empty_like(self) : at::empty_like(other);
}

Tensor& where_out(const Tensor& /*condition*/, const Tensor& /*self*/, const Tensor& /*other*/, Tensor& out) {
  return out;  // LibTorch calls it with a result of the right shape
}

Two flash_attention(const Tensor& query, const Tensor& /*key*/, const Tensor& value, double /*dropout*/,
                    bool /*causal*/, const OptionalTensor& /*mask*/, std::optional<double> /*scale*/) {
  Sizes sizes = query.sizes().vec();
  sizes.back() = value.size(-1);
  return {query.new_empty(sizes), statistics(query, query.sizes().slice(0, 3))};
}

Three flash_attention_backward(const Tensor& /*gradient*/, const Tensor& query, const Tensor& key,
                               const Tensor& value, const Tensor& /*output*/, const Tensor& /*logsumexp*/,
                               double /*dropout*/, bool /*causal*/, const OptionalTensor& /*mask*/,
                               std::optional<double> /*scale*/) {
  return {at::empty_like(query), at::empty_like(key), at::empty_like(value)};
}

/// The choice between kernels, which LibTorch leaves to the device.
Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& mask,
                 double dropout, bool causal, std::optional<double> scale, bool grouped) {
  if (fused_attention) {
    return std::get<0>(
        at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout, causal, mask, scale));
  }
  return std::get<0>(
      at::_scaled_dot_product_attention_math(query, key, value, mask, dropout, causal, {}, scale, grouped));
}

/// Registers for one key what it lacks.
class Registration {
 public:
  explicit Registration(c10::DispatchKey key)
      : key_(key), library_(torch::Library::IMPL, "aten", key, __FILE__, __LINE__) {}

  template <typename Kernel>
  void add(const char* name, const char* overload, Kernel* kernel) {
    const auto found = c10::Dispatcher::singleton().findSchema({std::string("aten::") + name, overload});
    if (!found || found->hasKernelForDispatchKey(key_)) return;
    const std::string full = *overload == '\0' ? name : std::string(name) + "." + overload;
    library_.impl(full.c_str(), kernel);
  }

 private:
  c10::DispatchKey key_;
  torch::Library library_;
};

}  // namespace

void add_meta_kernels() {
  // Never destroyed: a library takes its kernels with it.
  static Registration* const meta = [] {
    auto* added = new Registration(c10::DispatchKey::Meta);
    added->add("index_select", "", index_select);
    added->add("embedding_dense_backward", "", embedding_dense_backward);
    added->add("native_layer_norm", "", native_layer_norm);
    added->add("native_layer_norm_backward", "", native_layer_norm_backward);
    added->add("native_batch_norm", "", native_batch_norm);
    added->add("native_batch_norm_backward", "", native_batch_norm_backward);
    added->add("convolution", "", convolution);
    added->add("convolution_backward", "", convolution_backward);
    added->add("where", "self", where);
    added->add("where", "self_out", where_out);
    added->add("_scaled_dot_product_flash_attention_for_cpu", "", flash_attention);
    added->add("_scaled_dot_product_flash_attention_for_cpu_backward", "", flash_attention_backward);
    added->add("scaled_dot_product_attention", "", attention);
    return added;
  }();
  static Registration* const autograd = [] {
    auto* added = new Registration(c10::DispatchKey::AutogradMeta);
    added->add("scaled_dot_product_attention", "", attention);
    return added;
  }();
  (void)meta;
  (void)autograd;
}

void set_meta_attention(bool fused) {
  fused_attention = fused;
}

}  // namespace flopmark
