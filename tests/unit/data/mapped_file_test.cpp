#include "data/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <utility>

#include "flopmark/error.h"
#include "unit/data/temp_folder.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string text(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::string refusal(const std::string& path) {
  try {
    const MappedFile file(path);
    return "mapped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
}

TEST(MappedFile, ShowsTheBytes) {
  const TempFolder folder;
  MappedFile file(folder.file("a", "some bytes"));
  EXPECT_EQ(text(file), "some bytes");
  EXPECT_EQ(file.identity().size_bytes, 10);
  EXPECT_GT(file.identity().mtime_ns, int64_t{1'500'000'000} * 1'000'000'000);
  const MappedFile moved(std::move(file));
  EXPECT_EQ(text(moved), "some bytes");
  moved.check_unchanged();
}

TEST(MappedFile, AnEmptyFileIsEmpty) {
  const TempFolder folder;
  const MappedFile file(folder.file("a", ""));
  EXPECT_TRUE(file.bytes().empty());
  file.check_unchanged();
}

TEST(MappedFile, RefusesWhatIsNotAReadableFile) {
  const TempFolder folder;
  const std::string missing = folder.path() / "missing";
  EXPECT_THAT(refusal(missing), AllOf(HasSubstr(missing), HasSubstr("No such file")));
  EXPECT_THAT(refusal(folder.path()), HasSubstr("it is a folder"));
  const std::string fifo = folder.path() / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(refusal(fifo), HasSubstr("not a regular file"));
}

TEST(MappedFile, NoticesAChange) {
  const TempFolder folder;
  const MappedFile file(folder.file("a", "some bytes"));
  std::filesystem::resize_file(file.path(), 4);
  try {
    file.check_unchanged();
    FAIL() << "a truncated file passed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), AllOf(HasSubstr(file.path()), HasSubstr("10 bytes when opened, 4 now")));
  }
}

}  // namespace
}  // namespace flopmark
