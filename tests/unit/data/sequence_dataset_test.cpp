#include "data/sequence_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <numeric>
#include <random>

#include "data/loader.h"
#include "flopmark/error.h"
#include "unit/data/temp_folder.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

RunConfig config_of(const std::string& type, const std::string& path, int64_t batch, int64_t sequence) {
  RunConfig config;
  config.model.type = "llama";
  config.model.vocab_size = 256;
  config.data.type = type;
  config.data.path = path;
  config.data.batch_size = batch;
  config.data.sequence_length = sequence;
  return config;
}

std::vector<uint16_t> counting(size_t count) {
  std::vector<uint16_t> ids(count);
  for (size_t i = 0; i < count; ++i) ids[i] = static_cast<uint16_t>(i % 251);
  return ids;
}

std::vector<int64_t> row(const torch::Tensor& tensor, int64_t index) {
  const int64_t length = tensor.size(1);
  const int64_t* data = tensor.const_data_ptr<int64_t>() + index * length;
  return {data, data + length};
}

std::string dataset_refusal(const RunConfig& config) {
  try {
    const auto dataset = make_sequence_dataset(config);
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
}

TEST(SequenceDataset, TextIsWindowsOfBytesThatShareTheirBorder) {
  const TempFolder folder;
  const auto dataset = make_sequence_dataset(config_of("text", folder.file("t", "ABCDEFGHI\xff!"), 1, 3));
  EXPECT_EQ(dataset->size(), 3);  // (11 - 1) / 3
  const Batch batch = dataset->collate({2, 0});
  ASSERT_EQ(batch.inputs.size(), 2u);
  EXPECT_EQ(batch.inputs[0].scalar_type(), torch::kInt64);
  EXPECT_THAT(batch.inputs[1].sizes(), ElementsAre(2, 3));
  EXPECT_THAT(row(batch.inputs[0], 0), ElementsAre('G', 'H', 'I'));
  EXPECT_THAT(row(batch.inputs[1], 0), ElementsAre('H', 'I', 255));
  EXPECT_THAT(row(batch.inputs[0], 1), ElementsAre('A', 'B', 'C'));
  EXPECT_THAT(row(batch.inputs[1], 1), ElementsAre('B', 'C', 'D'));
  EXPECT_EQ(batch.samples, 2);
  EXPECT_EQ(batch.tokens, 6);
  EXPECT_EQ(batch.images, 0);
  EXPECT_THROW(dataset->collate({3}), std::out_of_range);
}

// Case A24: the same 1000 tokens, 2000 and 3024 bytes.
TEST(SequenceDataset, BothTokenFormatsGiveTheSameBatch) {
  const TempFolder folder;
  const std::string ids = as_bytes(counting(1000));
  const std::string raw_path = folder.file("raw.bin", ids);
  const std::string llmc_path = folder.file("llmc.bin", llmc_header(1000) + ids);
  ASSERT_EQ(std::filesystem::file_size(raw_path), 2000u);
  ASSERT_EQ(std::filesystem::file_size(llmc_path), 3024u);
  const auto raw = make_sequence_dataset(config_of("tokens", raw_path, 4, 16));
  const auto llmc = make_sequence_dataset(config_of("tokens", llmc_path, 4, 16));
  const Batch a = raw->collate({0, 1, 2, 3}), b = llmc->collate({0, 1, 2, 3});
  EXPECT_EQ(row(a.inputs[0], 0).at(1), 1);
  EXPECT_EQ(row(a.inputs[1], 3).at(15), 64);
  EXPECT_TRUE(torch::equal(a.inputs[0], b.inputs[0]));
  EXPECT_TRUE(torch::equal(a.inputs[1], b.inputs[1]));
  EXPECT_EQ(raw->facts().format, "raw-uint16");
  EXPECT_EQ(llmc->facts().format, "llmc");
  EXPECT_EQ(raw->facts().tokens, 1000);
  EXPECT_EQ(llmc->facts().tokens, 1000);
  EXPECT_EQ(llmc->facts().path, llmc_path);
  EXPECT_EQ(llmc->facts().hash.value().size(), 16u);
  EXPECT_NE(llmc->facts().hash, raw->facts().hash);
  RunConfig wrong = config_of("tokens", llmc_path, 4, 16);
  wrong.data.format = "raw-uint16";
  EXPECT_THAT(dataset_refusal(wrong), HasSubstr("magic"));
}

// Case A25: batch 4, sequence 64.
TEST(SequenceDataset, NeedsOneBatchAndSaysBothNumbers) {
  const TempFolder folder;
  const auto tokens = [&](size_t count) {
    return config_of("tokens", folder.file("tokens", as_bytes(counting(count))), 4, 64);
  };
  EXPECT_THAT(dataset_refusal(tokens(256)),
              AllOf(HasSubstr("256 tokens"), HasSubstr("needs 257"), HasSubstr("tokens: ")));
  EXPECT_THAT(dataset_refusal(tokens(0)), AllOf(HasSubstr(" 0 tokens"), HasSubstr("needs 257")));
  EXPECT_THAT(dataset_refusal(config_of("text", folder.file("text", std::string(256, 'a')), 4, 64)),
              AllOf(HasSubstr("256 bytes"), HasSubstr("needs 257")));
  EXPECT_THAT(dataset_refusal(config_of("text", folder.file("text", ""), 1, 1)),
              AllOf(HasSubstr(" 0 bytes"), HasSubstr("needs 2 ")));
  const std::shared_ptr<Dataset> dataset = make_sequence_dataset(tokens(257));
  EXPECT_EQ(dataset->size(), 4);
  Loader loader(dataset, {.batch_size = 4, .workers = 1});
  const Batch batch = loader.next();
  EXPECT_EQ(batch.samples, 4);
  EXPECT_EQ(batch.tokens, 256);
}

// Case A23: ids 0..255 and one 300.
TEST(SequenceDataset, NamesAnIdOutsideTheVocabulary) {
  const TempFolder folder;
  std::vector<uint16_t> ids(1000);
  std::iota(ids.begin(), ids.end(), uint16_t{0});
  for (uint16_t& id : ids) id %= 256;
  const std::string good = folder.file("good.bin", as_bytes(ids));
  EXPECT_EQ(dataset_refusal(config_of("tokens", good, 2, 32)), "accepted");
  ids[500] = 300;
  ids[900] = 4000;
  const std::string bad = folder.file("bad.bin", as_bytes(ids));
  EXPECT_THAT(dataset_refusal(config_of("tokens", bad, 2, 32)),
              AllOf(HasSubstr(bad), HasSubstr("token id 300 at position 500"), HasSubstr("vocabulary of 256"),
                    HasSubstr("4000")));
  const std::string headed = folder.file("headed.bin", llmc_header(1000) + as_bytes(ids));
  EXPECT_THAT(dataset_refusal(config_of("tokens", headed, 2, 32)), HasSubstr("token id 300 at position 500"));
  RunConfig small = config_of("text", folder.file("t", "aaaaaz"), 1, 2);
  small.model.vocab_size = 'z';
  EXPECT_THAT(dataset_refusal(small), HasSubstr("token id 122 at position 5"));
  small.model.vocab_size = 'z' + 1;
  EXPECT_EQ(dataset_refusal(small), "accepted");
}

TEST(SequenceDataset, WantsALanguageModel) {
  const TempFolder folder;
  RunConfig config = config_of("text", folder.file("t", "some text"), 1, 2);
  config.model.type = "mlp";
  config.model.vocab_size = 0;
  EXPECT_THAT(dataset_refusal(config), HasSubstr("mlp has no vocabulary"));
}

TEST(SequenceDataset, NoticesAFileThatChangesUnderIt) {
  const TempFolder folder;
  const std::string path = folder.file("t", std::string(100'000, 'a'));
  const std::shared_ptr<Dataset> dataset = make_sequence_dataset(config_of("text", path, 4, 64));
  std::filesystem::resize_file(path, 10);
  EXPECT_THROW(dataset->collate({1000}), Error);
}

TEST(SequenceDataset, RandomFilesAreReadOrRefused) {
  const TempFolder folder;
  std::mt19937 random(7);
  int accepted = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string bytes = random() % 2 ? llmc_header(static_cast<int32_t>(random() % 50)) : "";
    const size_t tail = random() % 100;
    for (size_t k = 0; k < tail; ++k) bytes += static_cast<char>(random());
    RunConfig config = config_of("tokens", folder.file("f", bytes), 1 + random() % 3, 1 + random() % 20);
    config.model.vocab_size = random() % 2 ? 65536 : 20000;
    try {
      const auto dataset = make_sequence_dataset(config);
      const Batch batch = dataset->collate({static_cast<size_t>(dataset->size() - 1)});
      EXPECT_LT(batch.inputs[1].max().item<int64_t>(), config.model.vocab_size);
      EXPECT_GE(batch.inputs[0].min().item<int64_t>(), 0);
      ++accepted;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
    }
  }
  EXPECT_GT(accepted, 10);
}

}  // namespace
}  // namespace flopmark
