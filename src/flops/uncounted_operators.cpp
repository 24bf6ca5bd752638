#include <algorithm>
#include <array>

#include "flops/rules.h"

namespace flopmark {
namespace {

using Names = std::string_view;

// Operators of ATen that multiply and add and have no rule, at the level where the work is done: what calls
// them (fft_rfft, linalg_inv, ...) need not be here. Sorted.
constexpr std::array kComputingOperators = {
    Names("_cholesky_solve_helper"),
    Names("_compute_linear_combination"),
    Names("_cslt_sparse_mm"),
    Names("_cslt_sparse_mm_search"),
    Names("_dyn_quant_matmul_4bit"),
    Names("_fft_c2c"),
    Names("_fft_c2r"),
    Names("_fft_r2c"),
    Names("_linalg_det"),
    Names("_linalg_eigh"),
    Names("_linalg_eigvals"),
    Names("_linalg_slogdet"),
    Names("_linalg_solve_ex"),
    Names("_linalg_svd"),
    Names("_lstm_mps"),
    Names("_mixed_dtypes_linear"),
    Names("_mps_convolution"),
    Names("_mps_convolution_transpose"),
    Names("_sparse_addmm"),
    Names("_sparse_mm_reduce_impl"),
    Names("_sparse_mm_reduce_impl_backward"),
    Names("_sparse_semi_structured_addmm"),
    Names("_sparse_semi_structured_linear"),
    Names("_sparse_semi_structured_mm"),
    Names("_sparse_sparse_matmul"),
    Names("_spsolve"),
    Names("_triton_multi_head_attention"),
    Names("_triton_scaled_dot_attention"),
    Names("_weight_int4pack_mm"),
    Names("_weight_int4pack_mm_for_cpu"),
    Names("_weight_int4pack_mm_with_scales_and_zeros"),
    Names("_weight_int8pack_mm"),
    Names("_wrapped_quantized_linear_prepacked"),
    Names("cholesky"),
    Names("cholesky_inverse"),
    Names("cholesky_solve"),
    Names("fbgemm_linear_fp16_weight"),
    Names("fbgemm_linear_fp16_weight_fp32_activation"),
    Names("fbgemm_linear_int8_weight"),
    Names("fbgemm_linear_int8_weight_fp32_activation"),
    Names("geqrf"),
    Names("hspmm"),
    Names("linalg_cholesky_ex"),
    Names("linalg_eig"),
    Names("linalg_householder_product"),
    Names("linalg_inv_ex"),
    Names("linalg_ldl_factor_ex"),
    Names("linalg_ldl_solve"),
    Names("linalg_lstsq"),
    Names("linalg_lu"),
    Names("linalg_lu_factor_ex"),
    Names("linalg_lu_solve"),
    Names("linalg_qr"),
    Names("linalg_solve_triangular"),
    Names("lstm_mps_backward"),
    Names("mps_convolution_backward"),
    Names("mps_convolution_transpose_backward"),
    Names("ormqr"),
    Names("quantized_gru"),
    Names("quantized_gru_cell"),
    Names("quantized_lstm"),
    Names("quantized_lstm_cell"),
    Names("quantized_rnn_relu_cell"),
    Names("quantized_rnn_tanh_cell"),
    Names("sparse_sampled_addmm"),
    Names("sspaddmm"),
    Names("triangular_solve"),
};

// Namespaces whose operators move, annotate or communicate, never multiply.
constexpr std::array kHarmlessNamespaces = {Names("_c10d_functional"), Names("c10d"),
                                            Names("c10d_functional"), Names("prim"), Names("profiler")};

static_assert(std::is_sorted(kComputingOperators.begin(), kComputingOperators.end()));

}  // namespace

bool computes_without_rule(std::string_view name) {
  const size_t colons = name.find("::");
  if (colons == std::string_view::npos) {
    return false;  // an annotation, not an operator
  }
  const std::string_view space = name.substr(0, colons), operation = name.substr(colons + 2);
  if (space == "aten") {
    return std::binary_search(kComputingOperators.begin(), kComputingOperators.end(), operation);
  }
  return std::find(kHarmlessNamespaces.begin(), kHarmlessNamespaces.end(), space) ==
         kHarmlessNamespaces.end();
}

}  // namespace flopmark
