#include "worker/measure_peak.h"

#include <gmock/gmock.h>

#include "unit/flops/observe/counting.h"

namespace flopmark {
namespace {

/// 2 x 64 x 32 x 16 = 65,536 FLOP a call, in every type a CPU trains in.
TEST(MatmulKernel, RunsProductsOfTheShapeAskedFor) {
  const auto kernel = make_matmul_kernel(torch::kCPU);
  for (const char* precision : {"fp64", "fp32", "bf16"}) {
    const MatmulShape shape{64, 32, 16};
    kernel->prepare(precision, shape);
    const FlopTotals totals = count_forward([&] { kernel->run(3); });
    EXPECT_EQ(totals.model_flop(), 3 * 65536) << precision;
    EXPECT_EQ(static_cast<double>(totals.model_flop()), 3 * shape.flop());
    ASSERT_EQ(totals.by_precision.size(), 1U);
    EXPECT_EQ(totals.by_precision[0].precision, precision);
  }
}

}  // namespace
}  // namespace flopmark
