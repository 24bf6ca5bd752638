#include "models/exported_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/input_list.h"
#include "flopmark/error.h"
#include "unit/models/exported_file.h"

namespace flopmark {
namespace {

using test::ExportedFile;
using test::json;
using ::testing::HasSubstr;

class ExportedInputsTest : public ::testing::Test {
 protected:
  json inputs_of(const ExportedFile& file, int64_t batch_size = 0) {
    return inputs_to_json(exported_data_inputs(file.write(folder_.path("model.pt2")), batch_size));
  }
  std::string refusal(const ExportedFile& file, int64_t batch_size = 0) {
    try {
      return inputs_of(file, batch_size).dump();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
      return error.what();
    }
  }
  test::ModelFolder folder_;
};

/// Images and labels; the largest label of the sample is 6.
ExportedFile classifier(const json& batch) {
  ExportedFile file;
  file.input("image", {batch, 3, 8, 8}).input("label", json::array({batch}), /*dtype=*/5);
  return file;
}
std::vector<torch::Tensor> classifier_sample() {
  return {torch::zeros({2, 3, 8, 8}), torch::tensor({int64_t{6}, int64_t{-100}})};
}

TEST_F(ExportedInputsTest, SayWhatTheModelTakes) {
  ExportedFile file = classifier(2);
  EXPECT_EQ(
      inputs_of(file.samples(classifier_sample())),
      json::parse(
          R"([{"shape": [2, 3, 8, 8], "dtype": "float32"}, {"shape": [2], "dtype": "int64", "high": 7}])"));
  EXPECT_EQ(inputs_of(file, 2).size(), 2U);
}

TEST_F(ExportedInputsTest, AnotherBatchIsAMistakeUnlessItIsDynamic) {
  ExportedFile fixed = classifier(2), dynamic = classifier("s0");
  fixed.samples(classifier_sample());
  dynamic.samples(classifier_sample());
  EXPECT_THAT(refusal(fixed, 8), HasSubstr("data.batch_size is 8, but " + folder_.path("model.pt2") +
                                           " was exported with 2 (image is float32 [2, 3, 8, 8])"));
  const std::string path = folder_.path("model.pt2");
  fixed.write(path);
  EXPECT_EQ(exported_batch_size(path, 0), 2);
  EXPECT_THROW(exported_batch_size(path, 8), Error);
  classifier("s0").write(path);  // needs no sample inputs
  EXPECT_EQ(exported_batch_size(path, 8), 8);
  EXPECT_EQ(exported_batch_size(path, 0), 2);
  EXPECT_EQ(inputs_of(dynamic, 8)[1]["shape"], json::array({8}));
  EXPECT_EQ(inputs_of(dynamic)[0]["shape"], json::array({2, 3, 8, 8}));  // as it was at export
}

TEST_F(ExportedInputsTest, WhatTheFileDoesNotSayIsAskedFor) {
  EXPECT_THAT(refusal(classifier(2)),
              HasSubstr("label (int64 [2]) holds whole numbers whose range the file does not say"));
  ExportedFile broken = classifier(2);
  broken.records()["data/sample_inputs/model.pt"] = "no pickle";
  EXPECT_THAT(refusal(broken), HasSubstr("give data.inputs, one entry per argument"));
  ExportedFile scalar;
  EXPECT_THAT(refusal(scalar.input("x", json::array())), HasSubstr("x (float32 []) has no batch"));
  ExportedFile complex;
  EXPECT_THAT(refusal(complex.input("x", {2}, /*dtype=*/10)),
              HasSubstr("inputs of its forward[0].dtype: found \"ComplexFloat\""));
}

TEST_F(ExportedInputsTest, NumbersOfTheSampleThatLieOutsideItsStorageAreNotRead) {
  ExportedFile file = classifier(2);
  file.samples(classifier_sample());
  std::string& bytes = file.records()["data/sample_inputs/model.pt"];
  for (size_t i = 0; i + 1 < bytes.size(); i += 7) {
    const char before = bytes[i];
    bytes[i] = static_cast<char>(before ^ 0x55);
    refusal(file);  // whatever it says, it says it
    bytes[i] = before;
  }
}

}  // namespace
}  // namespace flopmark
