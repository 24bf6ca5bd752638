#include "flops/module_totals.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

const std::vector<ModuleFlops> kRows = {{"layers.0.attention.wq", 1, 2, 3, 4},
                                        {"layers.0.attention", 10, 20, 30, 40},
                                        {"output", 5, 6, 7, 0},
                                        {"layers.1.attention.wq", 100, 200, 300, 400},
                                        {"", 1, 1, 1, 1}};

TEST(ModuleTotals, AddUpWhatLiesDeeper) {
  const auto whole = modules_at_depth(kRows, 1);
  ASSERT_EQ(whole.size(), 3u);
  EXPECT_EQ(whole[0].path, "layers");
  EXPECT_EQ(whole[0].forward_flop, 111);
  EXPECT_EQ(whole[0].backward_flop, 222);
  EXPECT_EQ(whole[0].backward_hardware_flop, 333);
  EXPECT_EQ(whole[0].recompute_flop, 444);
  EXPECT_EQ(whole[1].path, "output");
  EXPECT_EQ(whole[2].path, "");
}

TEST(ModuleTotals, DepthCutsTheRightPart) {
  const auto blocks = modules_at_depth(kRows, 2);
  ASSERT_EQ(blocks.size(), 4u);
  EXPECT_EQ(blocks[0].path, "layers.0");
  EXPECT_EQ(blocks[0].forward_flop, 11);
  EXPECT_EQ(blocks[2].path, "layers.1");
  EXPECT_EQ(modules_at_depth(kRows, 3)[0].path, "layers.0.attention");
  EXPECT_EQ(modules_at_depth(kRows, 3)[0].forward_flop, 11);
  EXPECT_EQ(modules_at_depth(kRows, 4).size(), kRows.size());
  EXPECT_EQ(modules_at_depth(kRows, 64)[3].path, "layers.1.attention.wq");
}

}  // namespace
}  // namespace flopmark
