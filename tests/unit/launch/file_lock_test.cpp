#include "launch/file_lock.h"

#include <gtest/gtest.h>

#include "flopmark/error.h"
#include "unit/results/scratch_tree.h"

namespace flopmark {
namespace {

TEST(FileLock, IsHeldByOneAtATime) {
  const ScratchFolder folder;
  const auto file = folder.root() / "lock";
  {
    const auto first = FileLock::take(file);
    EXPECT_TRUE(first.has_value());
    EXPECT_FALSE(FileLock::take(file).has_value());
  }
  const FileLock next = FileLock::wait(file);
  EXPECT_FALSE(FileLock::take(file).has_value());
  EXPECT_THROW(FileLock::wait(folder.root() / "missing" / "lock"), Error);
}

}  // namespace
}  // namespace flopmark
