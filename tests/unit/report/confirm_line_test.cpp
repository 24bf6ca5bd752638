#include "report/confirm_line.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

TEST(ConfirmLine, HasConfigSettingsAndTheOldCommit) {
  RunRecord reference;
  reference.subject.commit = "0123456789abcdef0123456789abcdef01234567";
  EXPECT_EQ(
      confirm_line("configs/a b.json", {"measure.steps=5", "model.preset=x y"}, reference),
      "flopmark ab 'configs/a b.json' --set measure.steps=5 --set 'model.preset=x y' --a.ref 0123456789ab "
      "--build 'BUILD COMMAND'");
}

TEST(ConfirmLine, WithoutACommitTheOldWorkerIsAskedFor) {
  EXPECT_EQ(confirm_line("c.json", {}, {}), "flopmark ab c.json --a.worker OLD_WORKER");
}

/// A commit comes from a file that anybody wrote.
TEST(ConfirmLine, IsSafeToCopy) {
  RunRecord reference;
  reference.subject.commit = "$(rm -rf x)";
  EXPECT_EQ(confirm_line("-x;y", {}, reference),
            "flopmark ab './-x;y' --a.ref '$(rm -rf x)' --build 'BUILD COMMAND'");
}

}  // namespace
}  // namespace flopmark
