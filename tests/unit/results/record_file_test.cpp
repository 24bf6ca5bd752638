#include "results/record_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "fakes/example_record.h"
#include "flopmark/error.h"
#include "unit/results/scratch_tree.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

void expect_refused(const fs::path& file, const std::string& why) {
  try {
    read_record(file);
    FAIL() << file << " was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::baseline);
    EXPECT_THAT(error.what(), HasSubstr(file.string()));
    EXPECT_THAT(error.what(), HasSubstr(why));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("json.exception")));
  }
}

TEST(ReadRecord, ReadsWhatWasWritten) {
  const ScratchFolder folder;
  const fs::path file = folder.root() / "a/b/record.json";
  write_file_atomically(file, format_record(to_json(example_record()), false));
  EXPECT_EQ(to_json(read_record(file)), to_json(example_record()));
}

TEST(ReadRecord, NamesTheFileAndWhy) {
  const ScratchFolder folder;
  const std::string whole = format_record(to_json(example_record()), false);
  expect_refused(folder.root() / "missing.json", "No such file");
  expect_refused(folder.root(), "is a folder");
  expect_refused(folder.write("empty.json", ""), "is empty");
  expect_refused(folder.write("blank.json", " \n\n"), "is empty");
  expect_refused(folder.write("text.json", "step time 12 ms"),
                 "merged with conflicts?): line 1, column 1: syntax");
  expect_refused(folder.write("object.json", "{}"), "no \"schema\"");
  expect_refused(folder.write("list.json", "[]"), "no \"schema\"");
  expect_refused(folder.write("conflict.json", "<<<<<<< HEAD\n" + whole), "conflict");
  expect_refused(folder.write("twice.json", whole + whole), "is not whole JSON");
  expect_refused(folder.write("deep.json", std::string(100000, '[')), "nested more than 64 deep");
}

TEST(ReadRecord, EveryHalfOfARecordIsRefused) {
  const ScratchFolder folder;
  const std::string whole = format_record(to_json(example_record()), false);
  for (size_t length = 1; length < whole.size() - 2; length += 97) {
    expect_refused(folder.write("half.json", whole.substr(0, length)), "is not whole JSON");
  }
}

TEST(ReadRecord, DoesNotWaitForAPipe) {
  const ScratchFolder folder;
  const fs::path pipe = folder.root() / "pipe.json";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_refused(pipe, "is not a regular file");
}

TEST(UtcSeconds, OfARecordsTime) {
  EXPECT_EQ(utc_seconds("1970-01-02T03:04:05.500Z"), 86400 + 3 * 3600 + 4 * 60 + 5.5);
  EXPECT_EQ(utc_seconds("2026-11-30"), 1795996800);
  EXPECT_TRUE(utc_seconds(utc_now()).has_value());
  for (const char* none : {"", "today", "2026-13-01T00:00:00Z", "2026-02-30", "2026-01-01T24:00:00Z"}) {
    EXPECT_FALSE(utc_seconds(none).has_value()) << none;
  }
}

}  // namespace
}  // namespace flopmark
