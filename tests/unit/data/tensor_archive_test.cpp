#include "data/tensor_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "flopmark/error.h"
#include "unit/data/array_files.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<ZipEntry> directory_of(const std::string& file) {
  return zip_directory(std::as_bytes(std::span(file)), "x.pt");
}

std::string archive_refusal(const std::string& bytes) {
  const TempFolder folder;
  try {
    check_tensor_archive(MappedFile(folder.file("x.pt", bytes)));
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("x.pt: "));
    return error.what();
  }
}

TEST(ZipDirectory, ListsRecords) {
  const auto entries = directory_of(zip_file({{"a/data.pkl", "123"}, {"a/data/0", "12345678", 8, 1000}}));
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "a/data.pkl");
  EXPECT_EQ(entries[0].stored_bytes, 3);
  EXPECT_EQ(entries[0].unpacked_bytes, 3);
  EXPECT_FALSE(entries[0].compressed);
  EXPECT_EQ(entries[1].unpacked_bytes, 1000);
  EXPECT_TRUE(entries[1].compressed);
}

// The zip64 end record and locator, as PyTorch's writer always adds them.
TEST(ZipDirectory, FollowsTheZip64Records) {
  std::string file = zip_file({{"data.pkl", "123"}});
  const size_t end = file.size() - 22;
  uint32_t offset = 0;
  std::memcpy(&offset, file.data() + end + 16, sizeof(offset));
  std::string zip64 = "PK\x06\x06" + std::string(28, '\0');
  append_value(zip64, uint64_t{1});
  append_value(zip64, uint64_t{end - offset});
  append_value(zip64, uint64_t{offset});
  std::string locator = "PK\x06\x07" + std::string(4, '\0');
  append_value(locator, uint64_t{end});
  append_value(locator, uint32_t{1});
  file.insert(end, zip64 + locator);
  file.replace(file.size() - 6, 4, "\xff\xff\xff\xff");  // "see zip64"
  ASSERT_EQ(directory_of(file).size(), 1u);
  EXPECT_EQ(directory_of(file).front().name, "data.pkl");
}

TEST(ZipDirectory, NoCutAndNoFlipDoesHarm) {
  const std::string file =
      zip_file({{"a/data.pkl", std::string(40, 'x')}, {"a/data/0", std::string(64, 'y')}});
  for (size_t length = 0; length < file.size(); ++length) {
    EXPECT_THROW(directory_of(file.substr(0, length)), Error) << length;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    std::string flipped = file;
    flipped[random() % flipped.size()] = static_cast<char>(random());
    try {
      directory_of(flipped);
    } catch (const Error&) {
      continue;
    }
  }
}

TEST(TensorArchive, TellsWhatAnArchiveIs) {
  const auto kind = [](const std::vector<ZipRecord>& records) {
    return archive_kind(directory_of(zip_file(records)));
  };
  EXPECT_EQ(kind({{"m/data.pkl", "x"}, {"m/constants.pkl", "x"}}), ArchiveKind::torchscript);
  EXPECT_EQ(kind({{"m/models/model.json", "x"}}), ArchiveKind::exported);
  EXPECT_EQ(kind({{"m/data.pkl", "x"}, {"m/version", "x"}}), ArchiveKind::saved);
  EXPECT_EQ(kind({{"a.npy", "x"}, {"b.npy", "x"}}), ArchiveKind::npz);
  EXPECT_EQ(kind({{"readme.txt", "x"}}), ArchiveKind::other);
}

TEST(TensorArchive, OnlyFilesOfTorchSavePass) {
  EXPECT_EQ(archive_refusal(zip_file({{"m/data.pkl", "x"}, {"m/data/0", "xxxx"}})), "accepted");
  EXPECT_THAT(archive_refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(archive_refusal("text with the ending .pt"), HasSubstr("not a zip archive"));
  EXPECT_THAT(archive_refusal("\x80\x02]q."), HasSubstr("Python pickle"));
  EXPECT_THAT(archive_refusal(zip_file({{"m/constants.pkl", "x"}})),
              HasSubstr("is a TorchScript model, no data"));
  EXPECT_THAT(archive_refusal(zip_file({{"models/model.json", "x"}})), HasSubstr("torch.export"));
  EXPECT_THAT(archive_refusal(zip_file({{"a.npy", "x"}})), HasSubstr("data.paths"));
  EXPECT_THAT(archive_refusal(zip_file({{"a.txt", "x"}})), HasSubstr("none of torch.save"));
  const std::string cut = zip_file({{"m/data.pkl", "x"}});
  EXPECT_THAT(archive_refusal(cut.substr(0, cut.size() - 30)), HasSubstr("cut short or damaged"));
}

TEST(TensorArchive, BombsAreRefusedByTheDirectory) {
  EXPECT_THAT(archive_refusal(zip_file({{"m/data.pkl", "x"}, {"m/data/0", "xxxx", 8, 4000000000U}})),
              AllOf(HasSubstr("m/data/0 is compressed"), HasSubstr("4 bytes unpack to 4000000000")));
  EXPECT_THAT(archive_refusal(zip_file({{"m/data.pkl", "x"}, {"m/data/0", "xxxx", 0, 4000000000U}})),
              HasSubstr("is compressed"));
  EXPECT_THAT(archive_refusal(zip_file({{"m/data.pkl", std::string(20000, ']')}})),
              AllOf(HasSubstr("more than 64 tensors"), HasSubstr("state_dict")));
  // Many entries that share one record's bytes.
  std::string file = zip_file({{"m/data.pkl", "x"}, {"m/data/0", std::string(1000, 'y')}});
  const size_t end = file.size() - 22, entry = file.rfind("PK\x01\x02");
  const std::string again = file.substr(entry, end - entry);
  for (int i = 0; i < 3; ++i) file.insert(end, again);
  for (const size_t count : {8u, 10u}) file[file.size() - 22 + count] = 5;
  EXPECT_THAT(archive_refusal(file), HasSubstr("unpack to more than the file's"));
}

}  // namespace
}  // namespace flopmark
