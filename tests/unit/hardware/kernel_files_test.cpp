#include "hardware/kernel_files.h"

#include <gtest/gtest.h>

#include "fakes/kernel_tree.h"

namespace flopmark {
namespace {

TEST(KernelFiles, WhatCannotBeReadIsUnknown) {
  const KernelTree tree;
  tree.make_unreadable("sys/locked");
  EXPECT_EQ(tree.files().text("sys/none"), "");
  EXPECT_EQ(tree.files().text("sys/locked"), "");
  EXPECT_EQ(tree.files().count("sys/none"), std::nullopt);
  EXPECT_EQ(tree.files().count("sys/locked"), std::nullopt);
}

TEST(KernelFiles, ACountIsAWholeNumberFromZeroUp) {
  const KernelTree tree;
  const auto count = [&](const std::string& text) {
    tree.write("sys/value", text);
    return tree.files().count("sys/value");
  };
  EXPECT_EQ(count("3500000\n"), 3500000);
  EXPECT_EQ(count("0"), 0);
  EXPECT_EQ(count("7 8\n"), 7);
  for (const char* text : {"", "\n", "-1\n", "1.5\n", "max\n", "99999999999999999999\n", "12x"}) {
    EXPECT_EQ(count(text), std::nullopt) << text;
  }
}

TEST(KernelFiles, CpuListsAreShort) {
  EXPECT_EQ(cpu_list_text({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
  EXPECT_EQ(cpu_list_text({5}), "5");
  EXPECT_EQ(cpu_list_text({}), std::nullopt);
}

}  // namespace
}  // namespace flopmark
