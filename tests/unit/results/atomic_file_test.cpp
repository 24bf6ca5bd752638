#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "flopmark/error.h"
#include "results/record_file.h"
#include "unit/results/scratch_tree.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

size_t files_in(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// Message of the refusal; empty if the file was written.
std::string error_of_writing(const fs::path& path, const std::string& text) {
  try {
    write_file_atomically(path, text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::baseline);
    EXPECT_THAT(error.what(), HasSubstr(path.string()));
    return error.what();
  }
  return {};
}

TEST(AtomicFile, WritesAndReplaces) {
  const ScratchFolder folder;
  const fs::path file = folder.root() / "a/b/file.json";
  write_file_atomically(file, "first");
  EXPECT_EQ(file_text(file), "first");
  write_file_atomically(file, "second");
  EXPECT_EQ(file_text(file), "second");
  EXPECT_EQ(files_in(file.parent_path()), 1U);
}

TEST(AtomicFile, FolderInTheWayIsRefused) {
  const ScratchFolder folder;
  fs::create_directories(folder.root() / "file.json/inside");
  EXPECT_THAT(error_of_writing(folder.root() / "file.json", "x"), HasSubstr("s a directory"));
  EXPECT_EQ(files_in(folder.root()), 1U);
}

TEST(AtomicFile, FileInPlaceOfTheFolderIsRefused) {
  const ScratchFolder folder;
  folder.write("baselines", "a file");
  EXPECT_THAT(error_of_writing(folder.root() / "baselines/x.json", "x"), HasSubstr("making its folder"));
}

/// A size limit stops the write half way, as a full disk does, without one.
TEST(AtomicFile, HalfWrittenLeavesTheOldFile) {
  const ScratchFolder folder;
  const fs::path file = folder.write("file.json", "old");
  rlimit before{}, tight{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  tight = before;
  tight.rlim_cur = 4096;
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const std::string error = error_of_writing(file, std::string(100000, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(error, HasSubstr("writing: File too large"));
  EXPECT_EQ(file_text(file), "old");
  EXPECT_EQ(files_in(folder.root()), 1U);
}

TEST(AtomicFile, FullDiskLeavesTheOldFile) {
  const ScratchFolder folder;
  if (mount("tmpfs", folder.root().c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP()
        << "this user may not mount a small file system; HalfWrittenLeavesTheOldFile covers the rest";
  }
  const fs::path file = folder.write("file.json", "old");
  const std::string error = error_of_writing(file, std::string(200000, 'x'));
  const std::string left = file_text(file);
  const size_t files = files_in(folder.root());
  const std::string retry = error_of_writing(file, "new");
  const std::string written = file_text(file);
  ASSERT_EQ(umount(folder.root().c_str()), 0);
  EXPECT_THAT(error, HasSubstr("No space left on device"));
  EXPECT_EQ(left, "old");
  EXPECT_EQ(files, 1U);
  EXPECT_EQ(retry, "");
  EXPECT_EQ(written, "new");
}

TEST(CheckWritable, IsWhatWritingWouldSayAndLeavesNothing) {
  const ScratchFolder folder;
  folder.write("file", "x");
  check_writable(folder.root() / "new.json");
  check_writable(folder.root() / "not/yet/there.json");
  check_writable("relative.json");
  EXPECT_EQ(files_in(folder.root()), 1U);
  for (const fs::path& path :
       {folder.root() / "file/x.json", folder.root() / "file/deeper/x.json", fs::path("/proc/x.json")}) {
    try {
      check_writable(path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::baseline);
      EXPECT_THAT(error.what(), HasSubstr("cannot write " + path.string()));
    }
  }
}

/// What a killed writer left is removed by the next one; what a living one is writing is not.
TEST(AtomicFile, RemovesStaleTemporariesOnly) {
  const ScratchFolder folder;
  const fs::path stale = folder.write(".flopmark-123-1.tmp", "half");
  const fs::path living = folder.write(".flopmark-124-1.tmp", "half");
  const fs::path other = folder.write(".flopmark-notes", "mine");
  const int lock = open(living.c_str(), O_RDONLY);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  write_file_atomically(folder.root() / "file.json", "x");
  close(lock);
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(living));
  EXPECT_TRUE(fs::exists(other));
}

/// In a child process: an exception must end it, not run the tests once more.
[[noreturn]] void save_for_ever(const fs::path& file) noexcept {
  for (int i = 0;; ++i)
    write_file_atomically(file, std::string(20000, static_cast<char>('a' + i % 26)) + "\n");
}

TEST(AtomicFile, KilledWriterNeverLeavesHalfAFile) {
  const ScratchFolder folder;
  const fs::path file = folder.write("file.json", "a\n");
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) save_for_ever(file);
    std::this_thread::sleep_for(std::chrono::microseconds(3000 + 1700 * round));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    const std::string text = file_text(file);
    ASSERT_FALSE(text.empty());
    EXPECT_EQ(text.back(), '\n');
    EXPECT_TRUE(text.size() == 2 || text.size() == 20001) << text.size();
    EXPECT_EQ(text.find_first_not_of(text[0]), text.size() - 1);
  }
  write_file_atomically(file, "last\n");
  EXPECT_EQ(files_in(folder.root()), 1U) << "stale temporaries are gone";
}

}  // namespace
}  // namespace flopmark
