#include "config/input_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_files.h"

namespace flopmark {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

/// What is wrong with a list; empty if nothing is.
std::string list_problem(const std::string& text) {
  std::vector<InputSpec> inputs;
  return read_inputs(json::parse(text), "data.inputs", inputs);
}

TEST(InputList, ReadsAndWritesTheSame) {
  const std::string text =
      R"([{"dtype":"float32","shape":[2,3,160,160]},{"dtype":"int64","high":1000,"shape":[2]},
          {"dtype":"bool","shape":[2,1]},{"dtype":"uint8","high":256,"shape":[1,1,1,1,1,1,1,1]}])";
  std::vector<InputSpec> inputs;
  ASSERT_EQ(read_inputs(json::parse(text), "data.inputs", inputs), "");
  ASSERT_EQ(inputs.size(), 4U);
  EXPECT_EQ(inputs[0].shape, (std::vector<int64_t>{2, 3, 160, 160}));
  EXPECT_EQ(inputs[0].dtype, "float32");
  EXPECT_EQ(inputs[0].high, std::nullopt);
  EXPECT_EQ(inputs[1].high, 1000);
  EXPECT_EQ(inputs_to_json(inputs), json::parse(text));
}

TEST(InputList, NamesThePlaceOfWhatIsWrong) {
  const auto with = [](const std::string& entry) {
    return list_problem(R"([{"shape": [2], "dtype": "float32"}, )" + entry + "]");
  };
  EXPECT_THAT(list_problem("3"), HasSubstr("data.inputs: found 3, expected an array of 1 to 64 objects"));
  EXPECT_THAT(list_problem("[]"), HasSubstr("data.inputs: found an array, expected an array of 1 to 64"));
  EXPECT_EQ(with("7"), "data.inputs[1]: found 7, expected an object with shape and dtype");
  EXPECT_EQ(with(R"({"dtype": "float32"})"),
            "data.inputs[1].shape is missing; it is an array of sizes, such as [8, 3, 224, 224]");
  EXPECT_THAT(with(R"({"shape": [2]})"),
              HasSubstr("data.inputs[1].dtype is missing; it is one of float32, "));
  EXPECT_EQ(
      with(R"({"shape": [2], "dtype": "float"})"),
      "data.inputs[1].dtype: found \"float\", expected one of float32, float64, float16, bfloat16, int64, "
      "int32, uint8, bool");
  EXPECT_THAT(with(R"({"shape": [2], "dtype": 5})"), HasSubstr("data.inputs[1].dtype: found 5"));
  EXPECT_EQ(with(R"({"shape": [2, 0], "dtype": "float32"})"),
            "data.inputs[1].shape[1]: found 0, expected a whole number from 1 to 2147483647");
  EXPECT_THAT(with(R"({"shape": [2.5], "dtype": "float32"})"),
              HasSubstr("data.inputs[1].shape[0]: found 2.5"));
  EXPECT_THAT(with(R"({"shape": [], "dtype": "float32"})"),
              HasSubstr("data.inputs[1].shape: found an array"));
  EXPECT_THAT(with(R"({"shape": [1,1,1,1,1,1,1,1,1], "dtype": "bool"})"), HasSubstr("1 to 8 sizes"));
  EXPECT_THAT(with(R"({"shape": 2, "dtype": "float32"})"), HasSubstr("data.inputs[1].shape: found 2"));
  EXPECT_THAT(with(R"({"shape": [2], "dtype": "float32", "low": 1})"),
              HasSubstr("data.inputs[1]: unknown key \"low\"; known are shape, dtype, high"));
}

TEST(InputList, WholeNumbersNeedABoundThatTheyCanHold) {
  const auto with = [](const std::string& type, const std::string& high) {
    return list_problem(R"([{"shape": [2], "dtype": ")" + type + "\"" +
                        (high.empty() ? "" : ", \"high\": " + high) + "}]");
  };
  EXPECT_THAT(with("int64", ""),
              HasSubstr("data.inputs[0].high is missing: int64 values are uniform in [0, high)"));
  EXPECT_EQ(with("int64", "9223372036854775807"), "");
  EXPECT_EQ(with("int32", "2147483648"), "");
  EXPECT_THAT(with("int32", "2147483649"), HasSubstr("data.inputs[0].high: found 2147483649"));
  EXPECT_EQ(with("uint8", "256"), "");
  EXPECT_THAT(with("uint8", "257"), HasSubstr("expected a whole number from 1 to 256"));
  EXPECT_THAT(with("int64", "0"), HasSubstr("data.inputs[0].high: found 0"));
  EXPECT_THAT(with("int64", "\"9\""), HasSubstr("data.inputs[0].high: found \"9\""));
  EXPECT_THAT(with("float32", "9"), HasSubstr("data.inputs[0].high: is for whole numbers, not for float32"));
  EXPECT_THAT(with("bool", "2"), HasSubstr("not for bool"));
}

TEST(InputList, ATensorTooLargeToCountIsRefused) {
  EXPECT_EQ(list_problem(R"([{"shape": [65536, 1048576], "dtype": "float32"}])"), "");
  EXPECT_THAT(list_problem(R"([{"shape": [65536, 1048577], "dtype": "float32"}])"),
              HasSubstr("data.inputs[0].shape: has more than 68719476736 values"));
  EXPECT_THAT(list_problem(R"([{"shape": [2147483647, 2147483647, 2147483647], "dtype": "float32"}])"),
              HasSubstr("has more than"));
}

TEST(InputList, AMistakeIsShownWithItsFile) {
  EXPECT_EQ(refused_text("{\"model\": {\"torchscript\": \"m.pt\"},\n\"data\": {\"inputs\": [{\"shape\": [2], "
                         "\"dtype\": \"half\"}]}}"),
            "run.json:2: data.inputs[0].dtype: found \"half\", expected one of float32, float64, float16, "
            "bfloat16, int64, int32, uint8, bool");
  EXPECT_THAT(refused_text(R"({"model": {"torchscript": "m.pt"}})", {R"(data.inputs=[{"shape": [0]}])"}),
              AllOf(HasSubstr("--set "), HasSubstr("data.inputs[0].shape[0]: found 0")));
  EXPECT_THAT(refused_text(R"({"data": {"inputs": [{"shape": [1], "shape": [2]}]}})"),
              HasSubstr("key \"data.inputs.shape\" is given twice"));
}

}  // namespace
}  // namespace flopmark
