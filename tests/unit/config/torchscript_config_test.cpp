// Configs of a model from a file, and the file in place of a config.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_files.h"

namespace flopmark {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

const std::string kImages = R"({"shape": [4, 3, 8, 8], "dtype": "float32"})";
const std::string kLabels = R"({"shape": [4], "dtype": "int64", "high": 10})";

/// A config of model.pt with more members of "model" and these of "data".
std::string config_of(const std::string& model, const std::string& data) {
  return R"({"model": {"torchscript": "model.pt")" + model + R"(}, "data": {)" + data + "}}";
}
const std::string kInputs = "\"inputs\": [" + kImages + ", " + kLabels + "]";

TEST(TorchScriptConfig, HoldsFileLossAndInputsOnly) {
  const ConfigFiles files;
  const RunConfig config =
      load_config(files.write("run.json", config_of(R"(, "loss": "cross_entropy")", kInputs)));
  EXPECT_EQ(config.model.type, "torchscript");
  EXPECT_EQ(config.model.torchscript, files.path("model.pt").string());
  EXPECT_EQ(config.data.batch_size, 4);
  const json written = to_json(config);
  EXPECT_EQ(written.at("model"),
            (json{{"torchscript", files.path("model.pt").string()}, {"loss", "cross_entropy"}}));
  EXPECT_EQ(written.at("data").at("inputs"), json::parse("[" + kImages + ", " + kLabels + "]"));
  EXPECT_EQ(written.at("data").at("batch_size"), 4);
  EXPECT_FALSE(written.at("data").contains("sequence_length") || written.at("data").contains("image_size"));
  const RunConfig back = config_from_resolved(written);
  EXPECT_EQ(to_json(back), written);
  EXPECT_EQ(back.data.inputs, config.data.inputs);
  EXPECT_EQ(back.model.loss, "cross_entropy");
}

TEST(TorchScriptConfig, WithoutALossForwardGivesIt) {
  const json written = to_json(load_text(config_of("", kInputs)));
  EXPECT_FALSE(written.at("model").contains("loss"));
  EXPECT_EQ(config_from_resolved(written).model.loss, "");
  EXPECT_THAT(refused_text(config_of(R"(, "loss": "l1")", kInputs)),
              HasSubstr("model.loss: found \"l1\", expected one of cross_entropy, mse"));
  EXPECT_THAT(refused_text(config_of(R"(, "loss": "mse")", "\"inputs\": [" + kImages + "]")),
              HasSubstr("but there is only one; add the target"));
}

TEST(TorchScriptConfig, NoKeyOfABuiltInModelStandsBesideIt) {
  for (const char* key :
       {R"("type": "llama")", R"("preset": "resnet50")", R"("layers": 2)", R"("dropout": 0.1)"}) {
    EXPECT_THAT(
        refused_text(config_of(std::string(", ") + key, kInputs)),
        AllOf(HasSubstr("is of a built-in model, but model.torchscript"), EndsWith("remove one of the two")))
        << key;
  }
  EXPECT_THAT(
      refused_text(config_of("", kInputs + R"(, "sequence_length": 8)")),
      AllOf(HasSubstr("run.json:1: data.sequence_length does not apply to a TorchScript model, only to "
                      "model.type llama, gpt2, bert"),
            EndsWith("; remove it or change the type")));
}

TEST(TorchScriptConfig, BuiltInModelsTakeNoneOfItsKeys) {
  EXPECT_EQ(refused_text(R"({"model": {"loss": "mse"}})"),
            "run.json:1: model.loss does not apply to model.type \"llama\", only to TorchScript models "
            "(model.torchscript) and exported models (model.exported); remove it or change the type");
  EXPECT_THAT(refused_text(R"({"data": {)" + kInputs + "}}"),
              HasSubstr("data.inputs does not apply to model.type \"llama\""));
}

TEST(TorchScriptConfig, InputsAreNeededAndFixTheBatch) {
  EXPECT_THAT(refused_text(config_of("", "")), AllOf(HasSubstr("run.json:1: data.inputs is missing"),
                                                     HasSubstr("\"inputs\": [{\"shape\": [8, 3,")));
  EXPECT_THAT(
      refused_text(config_of("", kInputs + R"(, "batch_size": 8)")),
      HasSubstr("data.batch_size 8 is not the first size of data.inputs[0], 4; remove data.batch_size"));
  EXPECT_EQ(load_text(config_of("", kInputs + R"(, "batch_size": 4)")).data.batch_size, 4);
  EXPECT_EQ(load_text(config_of("", kInputs), {R"(data.inputs=[{"shape": [7, 2], "dtype": "bool"}])"})
                .data.batch_size,
            7);
}

TEST(TorchScriptConfig, IsTrainedOnSyntheticData) {
  EXPECT_THAT(refused_text(config_of("", kInputs + R"(, "type": "text", "path": "a")")),
              HasSubstr("data.type \"text\" is for language models; a TorchScript model"));
}

TEST(TorchScriptConfig, AModelFileStandsForAConfig) {
  const ConfigFiles files;
  const auto file = files.path("my-model.pt");  // looked at by the worker only
  const RunConfig config = load_config(file, {"data.inputs=[" + kImages + "]", "measure.steps=3"});
  EXPECT_EQ(config.name, "my-model");
  EXPECT_EQ(config.model.torchscript, file.string());
  EXPECT_EQ(config.file, file);
  EXPECT_EQ(config.measure.steps, 3);
  EXPECT_THAT(refusal([&] { load_config(file); }),
              AllOf(HasSubstr("my-model.pt: data.inputs is missing"),
                    HasSubstr(R"(--set 'data.inputs=[{"shape": [8, 3, 224, 224], "dtype": "float32"})")));
}

}  // namespace
}  // namespace flopmark
