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
  const auto go_on = [] { return false; };
  bool told = false;
  const auto next = FileLock::wait(file, {go_on, [&] { told = true; }});
  EXPECT_TRUE(next.has_value());
  EXPECT_FALSE(told);
  EXPECT_FALSE(FileLock::take(file).has_value());
  EXPECT_THROW(FileLock::take(folder.root() / "missing" / "lock"), Error);
}

TEST(FileLock, SharersKeepOthersOut) {
  const ScratchFolder folder;
  const auto file = folder.root() / "lock";
  auto one = FileLock::take(file, FileLock::Kind::shared);
  EXPECT_TRUE(FileLock::wait(file, {[] { return false; }, [] {}, FileLock::Kind::shared}).has_value());
  EXPECT_FALSE(FileLock::take(file).has_value());
  one.reset();
  const auto alone = FileLock::take(file);
  EXPECT_TRUE(alone.has_value());
  EXPECT_FALSE(FileLock::take(file, FileLock::Kind::shared).has_value());
}

TEST(FileLock, WaitingIsToldAndCanBeGivenUp) {
  const ScratchFolder folder;
  const auto held = FileLock::take(folder.root() / "lock");
  bool told = false;
  const auto waited = FileLock::wait(folder.root() / "lock", {[&] { return told; }, [&] { told = true; }});
  EXPECT_FALSE(waited.has_value());
  EXPECT_TRUE(told);
}

TEST(FileLock, AFileThatCanOnlyBeReadCanBeLocked) {
  EXPECT_TRUE(FileLock::take("/proc/self/status").has_value());
}

}  // namespace
}  // namespace flopmark
