#include "data/cifar_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include "data/cifar_files.h"
#include "data/datasets.h"
#include "flopmark/error.h"
#include "unit/data/temp_folder.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A label and 3 planes of one value each.
std::string cifar_record(int label, int red, int green, int blue) {
  std::string record(1, static_cast<char>(label));
  for (const int value : {red, green, blue}) record.append(1024, static_cast<char>(value));
  return record;
}

RunConfig cifar_config(const std::string& path) {
  RunConfig config;
  config.model.type = "resnet";
  config.model.classes = 10;
  config.data.type = "cifar10";
  config.data.path = path;
  return config;
}

std::string cifar_refusal(const RunConfig& config) {
  try {
    make_dataset(config);
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
}

TEST(CifarDataset, ReadsTheFiveBatchesInOrder) {
  const TempFolder folder;
  for (int batch = 1; batch <= 5; ++batch) {
    folder.file("data_batch_" + std::to_string(batch) + ".bin",
                cifar_record(batch, 255, 0, 51) + cifar_record(9, batch, batch, batch));
  }
  const auto dataset = make_dataset(cifar_config(folder.path()));
  EXPECT_EQ(dataset->size(), 10);
  EXPECT_EQ(dataset->facts().format, "cifar10 binary");
  const Batch batch = dataset->collate({0, 6, 9});
  EXPECT_EQ(batch.images, 3);
  EXPECT_EQ(batch.inputs[0].sizes(), (std::vector<int64_t>{3, 3, 32, 32}));
  const auto labels = batch.inputs[1].accessor<int64_t, 1>();
  EXPECT_EQ(labels[0], 1);
  EXPECT_EQ(labels[1], 4);
  EXPECT_EQ(labels[2], 9);
  const auto values = batch.inputs[0].accessor<float, 4>();
  EXPECT_NEAR(values[0][0][31][31], (1.0 - 0.4914) / 0.2470, 1e-4);
  EXPECT_NEAR(values[0][1][0][0], (0.0 - 0.4822) / 0.2435, 1e-4);
  EXPECT_NEAR(values[1][2][5][6], (0.2 - 0.4465) / 0.2616, 1e-4);
  EXPECT_NEAR(values[2][0][0][0], (5 / 255.0 - 0.4914) / 0.2470, 1e-4);
}

TEST(CifarDataset, OneFileWillDo) {
  const TempFolder folder;
  const auto dataset = make_dataset(cifar_config(folder.file("test_batch.bin", cifar_record(3, 1, 2, 3))));
  EXPECT_EQ(dataset->size(), 1);
}

TEST(CifarDataset, WhatIsWrongIsNamed) {
  const TempFolder folder;
  const std::string good = cifar_record(3, 1, 2, 3);
  EXPECT_THAT(cifar_refusal(cifar_config(folder.path())),
              AllOf(HasSubstr("data_batch_1.bin: no such file"), HasSubstr("cifar-10-batches-bin")));
  EXPECT_THAT(cifar_refusal(cifar_config(folder.file("a.bin", good + "x"))),
              AllOf(HasSubstr("a.bin: 3074 bytes"), HasSubstr("3073 bytes")));
  EXPECT_THAT(cifar_refusal(cifar_config(folder.file("b.bin", ""))), HasSubstr("b.bin: 0 bytes"));
  EXPECT_THAT(cifar_refusal(cifar_config(folder.file("c.bin", good + cifar_record(10, 0, 0, 0)))),
              HasSubstr("c.bin: record 1 has the label 10"));
  EXPECT_THAT(
      cifar_refusal(cifar_config(folder.file("train.bin", std::string(2 * 3074, '\1')))),
      HasSubstr("but of CIFAR-100's of 3074, which are not read here; get CIFAR-10's binary version"));
  EXPECT_THAT(cifar_refusal(cifar_config(folder.path())),
              HasSubstr("but the folder holds a.bin, b.bin, c.bin, ...: is it one of them, renamed"));
  RunConfig few = cifar_config(folder.file("d.bin", good));
  few.model.classes = 7;
  EXPECT_THAT(cifar_refusal(few), HasSubstr("has 10 classes, but model.classes is 7"));
}

}  // namespace
}  // namespace flopmark
