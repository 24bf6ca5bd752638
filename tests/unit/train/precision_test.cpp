#include <ATen/Context.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flopmark/error.h"
#include "train/torch_step.h"
#include "unit/train/operator_log.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;

constexpr const char* kFusedOnCpu = "aten::_scaled_dot_product_flash_attention_for_cpu";

class PrecisionTest : public ::testing::Test {
 protected:
  void TearDown() override { apply_precision({}, torch::kCPU); }  // the switches are the process's
  TrainConfig train_;
};

TEST_F(PrecisionTest, NamesParametersAndPeakRow) {
  EXPECT_EQ(parameter_dtype("fp32"), torch::kFloat);
  EXPECT_EQ(parameter_dtype("tf32"), torch::kFloat);
  EXPECT_EQ(parameter_dtype("bf16-mixed"), torch::kFloat);
  EXPECT_EQ(parameter_dtype("bf16"), torch::kBFloat16);
  EXPECT_EQ(matmul_precision("fp32"), "fp32");
  EXPECT_EQ(matmul_precision("tf32"), "tf32");
  EXPECT_EQ(matmul_precision("bf16-mixed"), "bf16");
  EXPECT_EQ(matmul_precision("bf16"), "bf16");
  EXPECT_EQ(parameter_dtype("fp16-mixed"), torch::kFloat);
  EXPECT_EQ(matmul_precision("fp16-mixed"), "fp16");
}

TEST_F(PrecisionTest, MixedOnesRunUnderAutocast) {
  for (const char* precision : {"fp32", "tf32", "bf16"}) {
    EXPECT_FALSE(autocast_options(precision, torch::kCUDA).enabled) << precision;
    EXPECT_FALSE(scales_loss(precision)) << precision;
  }
  const AutocastOptions bf16 = autocast_options("bf16-mixed", torch::kCUDA),
                        fp16 = autocast_options("fp16-mixed", torch::kCPU);
  EXPECT_TRUE(bf16.enabled && fp16.enabled);
  EXPECT_EQ(bf16.device, torch::kCUDA);
  EXPECT_EQ(bf16.dtype, torch::kBFloat16);
  EXPECT_EQ(fp16.dtype, torch::kHalf);
  EXPECT_FALSE(scales_loss("bf16-mixed"));
  EXPECT_TRUE(scales_loss("fp16-mixed"));
}

TEST_F(PrecisionTest, RefusesUnknownNames) {
  const auto text = [](auto call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(text([] { parameter_dtype("fp8"); }),
            "train.precision: unknown \"fp8\"; known are fp32, tf32, bf16-mixed, bf16, fp16-mixed");
  train_.attention_kernel = "flash";
  EXPECT_EQ(text([this] { apply_precision(train_, torch::kCPU); }),
            "train.attention_kernel: unknown \"flash\"; known are auto, fused, unfused");
  TrainConfig tf32;
  tf32.precision = "tf32";
  EXPECT_THAT(text([&] { apply_precision(tf32, torch::kCPU); }), HasSubstr("\"tf32\" needs a CUDA device"));
}

TEST_F(PrecisionTest, AllowsTf32ForTf32Only) {
  const auto& context = at::globalContext();
  train_.precision = "tf32";
  apply_precision(train_, torch::Device(torch::kCUDA, 0));
  EXPECT_TRUE(context.allowTF32CuBLAS());
  EXPECT_TRUE(context.allowTF32CuDNN());
  for (const char* precision : {"fp32", "bf16", "bf16-mixed"}) {
    train_.precision = precision;
    apply_precision(train_, torch::kCPU);
    EXPECT_FALSE(context.allowTF32CuBLAS()) << precision;
    EXPECT_FALSE(context.allowTF32CuDNN()) << precision;
  }
}

TEST_F(PrecisionTest, ChoosesTheAttentionKernel) {
  const auto fused_ran = [this](const char* kernel) {
    train_.attention_kernel = kernel;
    apply_precision(train_, torch::kCPU);
    const auto q = torch::ones({1, 2, 8, 16});
    const test::OperatorLog log;
    at::scaled_dot_product_attention(q, q, q, {}, 0, true);
    return log.ran(kFusedOnCpu);
  };
  EXPECT_TRUE(fused_ran("auto"));
  EXPECT_FALSE(fused_ran("unfused"));
  EXPECT_TRUE(fused_ran("fused"));
}

TEST_F(PrecisionTest, FusedNeverFallsBackSilently) {
  train_.attention_kernel = "fused";
  apply_precision(train_, torch::kCPU);
  const auto q = torch::ones({1, 2, 8, 16});
  EXPECT_ANY_THROW(
      at::scaled_dot_product_attention(q, q, q, {}, /*dropout_p=*/0.5, true));  // no fused form on a CPU
}

}  // namespace
}  // namespace flopmark
