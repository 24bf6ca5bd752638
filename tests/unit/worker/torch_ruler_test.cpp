#include "worker/torch_ruler.h"

#include <ATen/Context.h>
#include <ATen/ops/rand.h>
#include <gmock/gmock.h>

#include <fstream>

#include "unit/flops/observe/counting.h"

namespace flopmark {
namespace {

int64_t mapped_pages() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

TEST(TorchRuler, DoesTheWorkItStates) {
  const auto kernel = make_ruler_kernel(torch::kCPU);
  const FlopTotals totals = count_forward([&] {
    kernel->matmul();
    kernel->copy();
  });
  EXPECT_EQ(totals.model_flop(), kernel->matmul_flop());
  EXPECT_EQ(kernel->matmul_flop(), 2LL * 512 * 512 * 512);
  EXPECT_EQ(kernel->copy_bytes(), 2LL * (32 << 20)) << "read and written";
}

TEST(TorchRuler, LeavesNothingBehind) {
  std::optional<Ruler> ruler;
  read_ruler_on(torch::kCPU, ruler);
  ASSERT_TRUE(ruler);
  at::manual_seed(7);
  const torch::Tensor expected = at::rand({4});
  at::manual_seed(7);
  const int64_t pages = mapped_pages();
  at::globalContext().setAllowTF32CuBLAS(true);
  read_ruler_on(torch::kCPU, ruler);
  EXPECT_TRUE(at::globalContext().allowTF32CuBLAS());
  at::globalContext().setAllowTF32CuBLAS(false);
  EXPECT_LT(mapped_pages() - pages, 1024) << "64 MiB are 16384 pages";
  EXPECT_TRUE(at::rand({4}).equal(expected)) << "the generators were used";
  ASSERT_EQ(ruler->matmul_s.size(), 2U);
  ASSERT_EQ(ruler->copy_s.size(), 2U);
  for (const double s : ruler->matmul_s) EXPECT_GT(s, 0);
  for (const double s : ruler->copy_s) EXPECT_GT(s, 0);
}

}  // namespace
}  // namespace flopmark
