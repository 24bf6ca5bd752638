#include "data/inspection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "flopmark/error.h"
#include "unit/data/array_files.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kPath = "/data/path", kType = "/data/type";

std::string inspection_refusal(const std::string& path) {
  try {
    return "accepted: " + inspect_data(path).kind;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
}

std::string config_at(const Inspection& found, const char* pointer) {
  return found.config.at(nlohmann::json::json_pointer(pointer)).dump();
}

TEST(Inspection, TokenFiles) {
  const TempFolder folder;
  std::vector<uint16_t> ids(1000, 300);
  ids[7] = 2;
  ids[8] = 50000;
  const Inspection llmc = inspect_data(folder.file("a.bin", llmc_header(1000) + as_bytes(ids)));
  EXPECT_THAT(llmc.kind, HasSubstr("llm.c"));
  EXPECT_EQ(llmc.data_type, "tokens");
  EXPECT_EQ(llmc.format, "llmc");
  EXPECT_EQ(llmc.tokens, 1000);
  EXPECT_EQ(llmc.samples, 7) << "(1000 - 1) / 128";
  EXPECT_EQ(llmc.low_id, 2);
  EXPECT_EQ(llmc.high_id, 50000);
  EXPECT_EQ(config_at(llmc, "/model/vocab_size"), "50001");
  EXPECT_EQ(config_at(llmc, kType), "\"tokens\"");
  const Inspection raw = inspect_data(folder.file("b.bin", as_bytes(ids)));
  EXPECT_EQ(raw.format, "raw-uint16");
  EXPECT_EQ(raw.tokens, 1000);
  EXPECT_THAT(raw.advice, HasSubstr("no header says so"));
}

TEST(Inspection, TextOfAnyLength) {
  const TempFolder folder;
  const Inspection text = inspect_data(folder.file("a", "Grüße aus der Datei\n"));
  EXPECT_EQ(text.data_type, "text");
  EXPECT_EQ(text.tokens, 22);
  EXPECT_EQ(text.low_id, 10);
  EXPECT_EQ(text.high_id, 0xc3);
  EXPECT_EQ(config_at(text, "/data/sequence_length"), "21");
  const Inspection one = inspect_data(folder.file("b", "x"));
  EXPECT_TRUE(one.config.is_null());
  EXPECT_THAT(one.advice, HasSubstr("too short"));
  // The first 64 KiB end inside a character.
  const Inspection cut = inspect_data(folder.file("c", std::string(65535, 'x') + "üyyyyyyyyy"));
  EXPECT_EQ(cut.data_type, "text");
}

TEST(Inspection, ArraysAndTensors) {
  const TempFolder folder;
  const Inspection array = inspect_data(
      folder.file("y.npy", npy_file(npy_header("<i4", "(3, 1)"), as_bytes<int32_t>({5, -2, 9}))));
  EXPECT_EQ(array.data_type, "tensors");
  EXPECT_EQ(array.samples, 3);
  ASSERT_EQ(array.tensors.size(), 1u);
  EXPECT_EQ(array.tensors[0].dtype, "int32");
  EXPECT_THAT(array.tensors[0].shape, ElementsAre(3, 1));
  EXPECT_EQ(array.tensors[0].low, -2);
  EXPECT_EQ(array.tensors[0].high, 9);
  EXPECT_EQ(config_at(array, "/data/batch_size"), "3");

  Inspection saved = inspect_data(folder.file("xy.pt", zip_file({{"xy/data.pkl", "x"}})));
  EXPECT_TRUE(saved.needs_unpickling);
  add_tensors(saved, {{"", "float32", {100, 3}, {}, {}}, {"", "int64", {100}, 0, 9}});
  EXPECT_EQ(saved.samples, 100);
  EXPECT_EQ(config_at(saved, kType), "\"tensors\"");
  EXPECT_EQ(config_at(saved, kPath), "\"" + (folder.path() / "xy.pt").string() + "\"");

  Inspection weights = inspect_data(folder.path() / "xy.pt");
  add_tensors(weights, {{"w", "float32", {8, 4}, {}, {}}, {"b", "float32", {3}, {}, {}}});
  EXPECT_EQ(weights.data_type, "");
  EXPECT_TRUE(weights.config.is_null());
  EXPECT_THAT(weights.advice, HasSubstr("state_dict"));
}

TEST(Inspection, WhatIsNoDataIsNamed) {
  const TempFolder folder;
  const auto kind = [&](const std::string& bytes) { return inspect_data(folder.file("x.pt", bytes)).kind; };
  EXPECT_THAT(kind(zip_file({{"m/data.pkl", "x"}, {"m/constants.pkl", "x"}})),
              HasSubstr("TorchScript model"));
  EXPECT_THAT(kind(zip_file({{"models/model.json", "x"}})), HasSubstr("torch.export"));
  EXPECT_THAT(kind(zip_file({{"a.npy", "x"}})), HasSubstr(".npz"));
  EXPECT_THAT(kind(zip_file({{"a.txt", "x"}})), HasSubstr("zip archive of something else"));
  EXPECT_THAT(kind("\x80\x02]q."), HasSubstr("Python pickle"));
  EXPECT_THAT(kind(std::string("\x01\0\x02", 3)), HasSubstr("no kind that is known"));
  for (const char* name : {"empty", "none"}) {
    if (std::string(name) == "empty") folder.file(name, "");
    EXPECT_THROW(inspect_data(folder.path() / name), Error) << name;
  }
}

TEST(Inspection, FoldersOfPicturesAndCifar) {
  const TempFolder folder;
  // The smallest grey PNG header and the last chunk will do: no picture is decoded.
  const std::string begin("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x07\0\0\0\x05\x08\0\0\0\0crc ", 33);
  const std::string png = begin + std::string("\0\0\0\0IENDcrc ", 12);
  std::filesystem::create_directory(folder.path() / "b");
  std::filesystem::create_directory(folder.path() / "a");
  folder.file("b/1.png", png);
  folder.file("a/2.png", png);
  folder.file("a/3.png", png);
  folder.file("a/notes.txt", "");
  const Inspection images = inspect_data(folder.path());
  EXPECT_EQ(images.data_type, "images");
  EXPECT_EQ(images.samples, 3);
  EXPECT_THAT(images.classes, ElementsAre("a", "b"));
  EXPECT_EQ(config_at(images, "/model/classes"), "2");
  EXPECT_THAT(images.advice, HasSubstr("1 other file"));
  EXPECT_THAT(inspect_data(folder.path() / "b/1.png").kind, HasSubstr("PNG picture of 7 x 5 pixels"));
  // A config for them would fail: what is damaged is listed instead.
  folder.file("a/0.jpg", "no picture");
  folder.file("b/2.png", begin);
  EXPECT_THAT(inspection_refusal(folder.path()),
              AllOf(HasSubstr("2 of the 5 pictures that were looked at cannot be used (no data.* key leaves"),
                    HasSubstr("a/0.jpg: called a picture, but by its content neither"),
                    HasSubstr("b/2.png: the picture ends before its last byte")));
  EXPECT_THAT(inspection_refusal(folder.path() / "b/2.png"), HasSubstr("cut short or damaged"));

  const TempFolder cifar;
  for (int i = 1; i <= 5; ++i) {
    cifar.file("data_batch_" + std::to_string(i) + ".bin", std::string(2 * 3073, '\1'));
  }
  EXPECT_EQ(inspect_data(cifar.path()).samples, 10);
  EXPECT_EQ(inspect_data(cifar.path() / "data_batch_3.bin").samples, 2);
  EXPECT_EQ(inspect_data(cifar.path()).data_type, "cifar10");
  EXPECT_THAT(inspect_data(cifar.path()).advice,
              HasSubstr("data_batch_1.bin holds 2 records, CIFAR-10's own files 10000 each"));
}

TEST(Inspection, CifarByAnotherName) {
  const TempFolder folder;
  const std::string records(10 * 3073, '\1');
  const Inspection renamed = inspect_data(folder.file("train.bin", records));
  EXPECT_EQ(renamed.data_type, "cifar10");
  EXPECT_EQ(renamed.samples, 10);
  EXPECT_THAT(renamed.advice, HasSubstr("told by its labels and length"));
  EXPECT_EQ(inspect_data(folder.file("one.bin", std::string(2 * 3073, '\1'))).data_type, "tokens")
      << "too little to tell";
  folder.file("data_batch_1.bin", records);
  EXPECT_THAT(inspection_refusal(folder.path()),
              AllOf(HasSubstr("data_batch_2.bin: no such file, but the folder holds one.bin, train.bin"),
                    HasSubstr("by these names")));
  const TempFolder python;
  python.file("data_batch_1", "\x80\x02}q.");
  EXPECT_THAT(inspection_refusal(python.path()), HasSubstr("CIFAR-10's Python version"));
}

}  // namespace
}  // namespace flopmark
