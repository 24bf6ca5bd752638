#include <gtest/gtest.h>

#include "flops/rules.h"

namespace flopmark {
namespace {

TEST(UncountedOperators, AreThoseThatMultiplyAndAdd) {
  for (const char* name : {"aten::_fft_r2c", "aten::_fft_c2c", "aten::_linalg_svd", "aten::linalg_qr",
                           "aten::linalg_cholesky_ex", "aten::linalg_inv_ex", "aten::triangular_solve",
                           "aten::_sparse_addmm", "aten::_weight_int8pack_mm", "aten::_cholesky_solve_helper",
                           "torchvision::deform_conv2d", "mylib::fused_block", "quantized::linear"}) {
    EXPECT_TRUE(computes_without_rule(name)) << name;
  }
}

TEST(UncountedOperators, AreNotViewsElementwiseReductionsOrAnnotations) {
  for (const char* name :
       {"aten::view", "aten::add", "aten::native_layer_norm", "aten::embedding", "aten::copy_",
        "aten::nll_loss_forward", "aten::max_pool2d", "aten::_fused_adamw_", "aten::linalg_norm",
        "aten::matmul", "aten::linalg_multi_dot", "prim::device", "c10d::allreduce_",
        "profiler::_record_function_enter_new", "Optimizer.step", ""}) {
    EXPECT_FALSE(computes_without_rule(name)) << name;
  }
}

}  // namespace
}  // namespace flopmark
