// Configs of a model from torch.export, and the file in place of a config.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/input_list.h"
#include "config_files.h"

namespace flopmark {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

const std::string kOneInput = R"("inputs": [{"shape": [4, 3], "dtype": "float32"}])";

std::string exported_config(const std::string& model, const std::string& data) {
  return R"({"model": {"exported": "model.pt2")" + model + R"(}, "data": {)" + data + "}}";
}

TEST(ExportedConfig, LeavesTheInputsToTheFile) {
  const ConfigFiles files;
  const RunConfig config = load_config(files.write("run.json", exported_config("", "")));
  EXPECT_EQ(config.model.type, "exported");
  EXPECT_EQ(config.model.exported, files.path("model.pt2").string());
  EXPECT_EQ(config.model.file(), config.model.exported);
  EXPECT_EQ(config.data.batch_size, 0);
  const json written = to_json(config);
  EXPECT_EQ(written.at("model"), (json{{"exported", files.path("model.pt2").string()}}));
  EXPECT_FALSE(written.at("data").contains("inputs") || written.at("data").contains("batch_size"));
  const RunConfig back = config_from_resolved(written);
  EXPECT_EQ(to_json(back), written);
  EXPECT_EQ(back.data.batch_size, 0);
}

TEST(ExportedConfig, TakesWhatTheFileSays) {
  RunConfig config = load_text(exported_config("", ""));
  take_model_data(config, nullptr);
  EXPECT_TRUE(config.data.inputs.empty());
  const json data = json::parse(
      R"({"batch_size": 4, "inputs": [{"shape": [4, 3], "dtype": "float32"}, {"shape": [4], "dtype": "int64", "high": 7}]})");
  take_model_data(config, data);
  EXPECT_EQ(model_data_to_json(config.data), data);
  EXPECT_THAT(refusal([&] { take_model_data(config, json::array()); }, ExitCode::internal),
              HasSubstr("data.batch_size is missing"));
  EXPECT_EQ(config.data.batch_size, 4);
  EXPECT_EQ(config.data.inputs.at(1).high, 7);
  EXPECT_EQ(to_json(config).at("data").at("batch_size"), 4);
}

TEST(ExportedConfig, ABatchOrInputsMayBeGivenAndMustAgree) {
  EXPECT_EQ(load_text(exported_config("", R"("batch_size": 8)")).data.batch_size, 8);
  EXPECT_EQ(load_text(exported_config("", kOneInput)).data.batch_size, 4);
  EXPECT_THAT(refused_text(exported_config("", kOneInput + R"(, "batch_size": 8)")),
              HasSubstr("data.batch_size 8 is not the first size of data.inputs[0], 4"));
}

TEST(ExportedConfig, ALossNeedsItsTargetAmongTheInputs) {
  EXPECT_THAT(refused_text(exported_config(R"(, "loss": "mse")", "")),
              HasSubstr("data.inputs is missing: one entry per argument of the model's forward and one for "
                        "the target of model.loss"));
  EXPECT_THAT(refused_text(exported_config(R"(, "loss": "mse")", kOneInput)),
              HasSubstr("but there is only one; add the target"));
}

TEST(ExportedConfig, NoOtherModelStandsBesideIt) {
  EXPECT_THAT(refused_text(exported_config(R"(, "layers": 2)", "")),
              AllOf(HasSubstr("model.layers is of a built-in model, but model.exported"),
                    EndsWith("remove one of the two")));
  EXPECT_THAT(refused_text(exported_config(R"(, "torchscript": "model.pt")", "")),
              HasSubstr("is of another model, but"));
  EXPECT_THAT(refused_text(exported_config("", R"("sequence_length": 8)")),
              AllOf(HasSubstr("run.json:1: data.sequence_length does not apply to an exported model, only to "
                              "model.type llama, gpt2, bert"),
                    HasSubstr("; remove it or change the type")));
  EXPECT_THAT(refused_text(exported_config("", R"("type": "text", "path": "a")")),
              HasSubstr("is for language models; an exported model"));
}

TEST(ExportedConfig, AModelFileStandsForAConfig) {
  const ConfigFiles files;
  const auto file = files.path("my-model.pt2");  // looked at by the worker only
  const RunConfig config = load_config(file, {"measure.steps=3"});
  EXPECT_EQ(config.name, "my-model");
  EXPECT_EQ(config.model.exported, file.string());
  EXPECT_EQ(config.model.torchscript, "");
  EXPECT_EQ(config.measure.steps, 3);
  const auto loud = files.path("LOUD.PT2");
  EXPECT_EQ(load_config(loud).model.exported, loud.string());
  const auto scripted = files.path("Scripted.Pt");
  EXPECT_EQ(
      load_config(scripted, {R"(data.inputs=[{"shape": [4, 3], "dtype": "float32"}])"}).model.torchscript,
      scripted.string());
}

}  // namespace
}  // namespace flopmark
