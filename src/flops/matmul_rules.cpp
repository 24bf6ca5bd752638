#include <fmt/format.h>

#include <stdexcept>

#include "flops/checked_math.h"
#include "flops/rules.h"

// Matrix products: 2 FLOPs per multiply-add, m x k times k x n is 2 m k n (Golub and Van Loan, Matrix
// Computations, 1.1.15). Scaling by alpha and beta, adding the bias, and activations fused behind the product
// are not counted.

namespace flopmark {
namespace {

OperatorFlop same(int64_t flop) {
  return {flop, flop};
}

void require_equal(const OperatorCall& call, int64_t a, int64_t b) {
  if (a != b) {
    throw std::invalid_argument(fmt::format("{}: contracted sizes differ, {} and {}", call.name, a, b));
  }
}

/// [m, k] x [k, n], the two matrices from argument First on.
template <size_t First>
OperatorFlop matrix_matrix(const OperatorCall& call) {
  const auto& a = sizes_at(call, First, 2);
  const auto& b = sizes_at(call, First + 1, 2);
  require_equal(call, a[1], b[0]);
  return same(checked_product({2, a[0], a[1], b[1], tensor_at(call, First).packed}));
}

/// Lists of matrices, multiplied pair by pair.
OperatorFlop matrix_lists(const OperatorCall& call) {
  const auto &left = tensors_at(call, 0), &right = tensors_at(call, 1);
  int64_t flop = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    const OperatorCall pair{.name = call.name, .arguments = {left[i], right.at(i)}};
    flop = checked_add(flop, matrix_matrix<0>(pair).model_flop);
  }
  return same(flop);
}

/// [b, m, k] x [b, k, n].
template <size_t First>
OperatorFlop batched_matrix_matrix(const OperatorCall& call) {
  const auto& a = sizes_at(call, First, 3);
  const auto& b = sizes_at(call, First + 1, 3);
  require_equal(call, a[2], b[1]);
  return same(checked_product({2, a[0], a[1], a[2], b[2]}));
}

/// [m, k] x [k].
template <size_t First>
OperatorFlop matrix_vector(const OperatorCall& call) {
  const auto& matrix = sizes_at(call, First, 2);
  require_equal(call, matrix[1], sizes_at(call, First + 1, 1)[0]);
  return same(checked_product({2, matrix[0], matrix[1]}));
}

OperatorFlop vector_vector(const OperatorCall& call) {
  return same(checked_multiply(2, sizes_at(call, 0, 1)[0]));
}

/// Counted as the product of n x 1 and 1 x m that it is, so that it does not depend on how it is written.
template <size_t First>
OperatorFlop outer_product(const OperatorCall& call) {
  return same(checked_product({2, sizes_at(call, First, 1)[0], sizes_at(call, First + 1, 1)[0]}));
}

/// Rows of the input (all but its last dimension) times the weight [out, in]; a vector weight has one output.
int64_t linear_flop(const TensorShape& input, const TensorShape& weight) {
  const int64_t inputs = checked_product(input.sizes);
  const int64_t outputs = weight.sizes.size() == 2 ? weight.sizes[0] : 1;
  return checked_product({2, inputs, outputs});
}

OperatorFlop linear(const OperatorCall& call) {
  return same(linear_flop(tensor_at(call, 0), tensor_at(call, 1)));
}

/// linear_backward and mkldnn_linear_backward (input, grad_output, weight, mask): one product of the
/// forward's size for the input's gradient and one for the weight's.
OperatorFlop linear_backward(const OperatorCall& call) {
  const auto& mask = bools_at(call, 3);
  const int64_t wanted = int64_t{mask.at(0)} + int64_t{mask.at(1)};
  return same(checked_multiply(wanted, linear_flop(tensor_at(call, 0), tensor_at(call, 2))));
}

/// mkldnn_linear_backward_input (input_size, grad_output, weight).
OperatorFlop linear_backward_input(const OperatorCall& call) {
  return same(checked_product({2, checked_product(ints_at(call, 0)), sizes_at(call, 2, 2)[0]}));
}

/// mkldnn_linear_backward_weights (grad_output, input, weight, bias_defined).
OperatorFlop linear_backward_weights(const OperatorCall& call) {
  return same(linear_flop(tensor_at(call, 1), tensor_at(call, 2)));
}

/// Rows, columns or contracted positions that lie in a group: up to the last offset; all of them where the
/// offsets' content is not known (meta device), as in training, where the groups fill the tensor.
int64_t grouped_extent(const OperatorCall& call, size_t offsets, int64_t whole) {
  const TensorShape* ends = find_tensor(call, offsets);
  return ends != nullptr && !ends->values.empty() ? ends->values.back() : whole;
}

/// One product per group (torch.nn.functional.grouped_mm): [G,m,k]x[G,k,n] is a batch; a matrix on one side
/// has its rows, columns or contracted dimension divided among the groups, so that the sizes of the groups do
/// not matter.
template <size_t Offsets>
OperatorFlop grouped_matrix_matrix(const OperatorCall& call) {
  const TensorShape &left = tensor_at(call, 0), &right = tensor_at(call, 1);
  const auto &a = left.sizes, &b = right.sizes;
  const int64_t packed = left.packed;
  if (a.size() == 3 && b.size() == 3) {
    return same(checked_product({2, a[0], a[1], a[2], b[2], packed}));
  }
  if (a.size() == 2 && b.size() == 3) {  // rows divided: [M, k] x [G, k, n]
    return same(checked_product({2, grouped_extent(call, Offsets, a[0]), a[1], b[2], packed}));
  }
  if (a.size() == 3 && b.size() == 2) {  // columns divided: [G, m, k] x [k, N]
    return same(checked_product({2, a[1], a[2], grouped_extent(call, Offsets, b[1]), packed}));
  }
  if (a.size() == 2 && b.size() == 2) {  // contracted dimension divided: [m, K] x [K, n]
    return same(checked_product({2, a[0], grouped_extent(call, Offsets, a[1]), b[1], packed}));
  }
  throw std::invalid_argument(
      fmt::format("{}: operands of {} and {} dimensions", call.name, a.size(), b.size()));
}

}  // namespace

std::vector<FlopRule> matmul_rules() {
  return {
      {"aten::mm", matrix_matrix<0>},
      {"aten::_int_mm", matrix_matrix<0>},
      {"aten::_scaled_mm", matrix_matrix<0>},
      {"aten::_scaled_mm_v2", matrix_matrix<0>},
      {"aten::addmm", matrix_matrix<1>},
      {"aten::addmm_", matrix_matrix<1>},
      {"aten::_addmm_activation", matrix_matrix<1>},
      {.name = "aten::_scaled_addmm", .count = matrix_matrix<1>, .product_at = 1},
      {.name = "aten::_scaled_addmm_", .count = matrix_matrix<1>, .product_at = 1},
      {"aten::_foreach_mm", matrix_lists},
      {"aten::bmm", batched_matrix_matrix<0>},
      {"aten::baddbmm", batched_matrix_matrix<1>},
      {"aten::baddbmm_", batched_matrix_matrix<1>},
      {"aten::addbmm", batched_matrix_matrix<1>},
      {"aten::addbmm_", batched_matrix_matrix<1>},
      {"aten::mv", matrix_vector<0>},
      {"aten::addmv", matrix_vector<1>},
      {"aten::addmv_", matrix_vector<1>},
      {"aten::dot", vector_vector},
      {"aten::vdot", vector_vector},
      {"aten::outer", outer_product<0>},
      {"aten::ger", outer_product<0>},
      {"aten::addr", outer_product<1>},
      {"aten::addr_", outer_product<1>},
      {.name = "aten::linear", .count = linear, .only_if_undecomposed = true},
      {"aten::mkldnn_linear", linear},
      {"aten::linear_backward", linear_backward},
      {"aten::mkldnn_linear_backward", linear_backward},
      {"aten::mkldnn_linear_backward_input", linear_backward_input},
      {"aten::mkldnn_linear_backward_weights", linear_backward_weights},
      {.name = "aten::_grouped_mm", .count = grouped_matrix_matrix<2>, .values_of = {2}},
      {.name = "aten::_scaled_grouped_mm", .count = grouped_matrix_matrix<4>, .values_of = {4}},
      {.name = "aten::_scaled_grouped_mm_v2", .count = grouped_matrix_matrix<8>, .values_of = {8}},
  };
}

}  // namespace flopmark
