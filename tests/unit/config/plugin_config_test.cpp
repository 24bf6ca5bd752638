// Configs whose model or data set a plug-in makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/key_scope.h"
#include "config/key_value.h"
#include "config_files.h"

namespace flopmark {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

const std::string kModel =
    R"("model": {"plugin": "build/libmine.so", "type": "mine", "options": {"width": 8}})";
const std::string kData = R"("data": {"plugin": "build/libmine.so", "type": "points", "batch_size": 4})";

std::string both(const std::string& more = "") {
  return "{" + kModel + ", " + kData + more + "}";
}

TEST(PluginConfig, NamesLibraryTypeAndOptions) {
  const ConfigFiles files;
  const RunConfig config = load_config(files.write("run.json", both()));
  EXPECT_EQ(config.model.type, "plugin");
  EXPECT_EQ(config.model.plugin, files.path("build/libmine.so").string());
  EXPECT_EQ(config.model.plugin_type, "mine");
  EXPECT_EQ(config.model.options.json, R"({"width":8})");
  EXPECT_EQ(config.data.type, "plugin");
  EXPECT_EQ(config.data.plugin_type, "points");
  EXPECT_EQ(config.data.options.json, "{}");
  EXPECT_EQ(config.model.file(), config.model.plugin);
}

TEST(PluginConfig, ResolvesToWhatAppliesAndBack) {
  const ConfigFiles files;
  const RunConfig config = load_config(files.write("run.json", both()));
  const json written = to_json(config);
  const std::string library = files.path("build/libmine.so").string();
  EXPECT_EQ(written.at("model"), (json{{"plugin", library}, {"type", "mine"}, {"options", {{"width", 8}}}}));
  EXPECT_EQ(written.at("data").at("type"), "points");
  EXPECT_EQ(written.at("data").at("plugin"), library);
  EXPECT_EQ(written.at("data").at("options"), json::object());
  for (const char* key : {"path", "format", "inputs", "sequence_length", "image_size"}) {
    EXPECT_FALSE(written.at("data").contains(key)) << key;
  }
  EXPECT_FALSE(written.at("train").contains("activation_checkpointing"));
  const RunConfig back = config_from_resolved(written);
  EXPECT_EQ(to_json(back), written);
  EXPECT_EQ(back.model.plugin_type, "mine");
}

TEST(PluginConfig, AnyNameIsATypeOfAPlugin) {
  const RunConfig config = load_text(both(), {"model.type=llama", "data.type=text"});
  EXPECT_EQ(config.model.type, "plugin");
  EXPECT_EQ(config.model.plugin_type, "llama");
  EXPECT_EQ(config.data.plugin_type, "text");
  EXPECT_THAT(refused_text(both(), {"model.type=a b"}), HasSubstr("found \"a b\", expected one of llama,"));
  EXPECT_THAT(refused_text(R"({"model": {"type": "mine"}})"),
              AllOf(HasSubstr("run.json:1: model.type: found \"mine\", expected one of llama, gpt2"),
                    HasSubstr("; with model.plugin, the name of one of its own")));
  EXPECT_THAT(refused_text(R"({"data": {"type": "points"}})"),
              HasSubstr("data.type: found \"points\", expected one of"));
}

TEST(PluginConfig, TheTypeMustBeGiven) {
  EXPECT_THAT(
      refused_text(R"({"model": {"plugin": "m.so"}})"),
      HasSubstr("run.json:1: model.type is missing: model.plugin holds models by name; set model.type"));
  EXPECT_THAT(refused_text("{" + kModel + R"(, "data": {"plugin": "m.so"}})"),
              HasSubstr("data.type is missing: data.plugin holds data sets by name"));
}

TEST(PluginConfig, OptionsAreAnyObjectAndOneCanBeSet) {
  const std::string deep = R"({"a": [1, {"b": null}], "c": {"d": 1, "e": 2}})";
  EXPECT_EQ(
      json::parse(load_text(both(), {"model.options=" + deep, "model.options.c.d=5"}).model.options.json),
      json::parse(R"({"width": 8, "a": [1, {"b": null}], "c": {"d": 5, "e": 2}})"));
  EXPECT_EQ(load_text(both(), {"data.options.name=abc"}).data.options.json, R"({"name":"abc"})");
  EXPECT_THAT(refused_text(both(), {"model.options=3"}),
              HasSubstr("model.options: found 3, expected an object"));
  EXPECT_THAT(refused_text(both(), {"model.options.name=\xff"}), HasSubstr("expected an object, in UTF-8"));
}

TEST(PluginConfig, OptionsOfAnExtendedConfigHoldUnlessGivenAgain) {
  const ConfigFiles files;
  files.write("base.json", both());
  const RunConfig config =
      load_config(files.write("run.json", R"({"extends": "base.json", "model": {"options": {"depth": 2}}})"));
  EXPECT_EQ(config.model.options.json, R"({"depth":2,"width":8})");
}

TEST(PluginConfig, KeysOfOtherModelsAreRefused) {
  EXPECT_THAT(refused_text(both(), {"model.layers=2"}),
              AllOf(HasSubstr("model.layers is of a built-in model, but model.plugin ("),
                    HasSubstr("remove one of the two")));
  EXPECT_THAT(refused_text(both(), {"model.torchscript=m.pt"}), HasSubstr("is of another model, but"));
  EXPECT_THAT(refused_text(both(), {"model.loss=mse"}), HasSubstr("is for another kind of model file, but"));
  EXPECT_THAT(refused_text(both(), {"train.activation_checkpointing=full"}),
              HasSubstr("does not apply to a plug-in's model, only to model.type llama"));
  EXPECT_THAT(
      refused_text(R"({"model": {"options": {}}})"),
      HasSubstr("model.options does not apply to model.type \"llama\", only to plug-ins (model.plugin)"));
  EXPECT_THAT(
      refused_text(R"({"data": {"options": {}}})"),
      HasSubstr("data.options does not apply to data.type \"synthetic\", only to plug-ins (data.plugin)"));
}

TEST(PluginConfig, KeysOfOtherDataAreRefused) {
  EXPECT_THAT(refused_text(both(), {"data.path=a"}),
              HasSubstr("data.path does not apply to a plug-in's data set, only to data.type tokens, text"));
  EXPECT_THAT(refused_text(both(), {R"(data.inputs=[{"shape": [4], "dtype": "float32"}])"}),
              HasSubstr("data.inputs does not apply to a plug-in's data set, only to data.type synthetic"));
  EXPECT_THAT(refused_text(both(), {"data.sequence_length=8"}),
              HasSubstr("data.sequence_length does not apply to a plug-in's model"));
}

TEST(PluginConfig, WithoutADataPluginTheModelNeedsInputs) {
  EXPECT_THAT(refused_text("{" + kModel + "}"), HasSubstr("run.json:1: data.inputs is missing"));
  const RunConfig config =
      load_text("{" + kModel + "}", {R"(data.inputs=[{"shape": [6, 2], "dtype": "float32"}])"});
  EXPECT_EQ(config.data.batch_size, 6);
  EXPECT_EQ(config.data.type, "synthetic");
  EXPECT_THAT(refused_text("{" + kModel + R"(, "data": {"type": "text", "path": "a"}})"),
              AllOf(HasSubstr("data.type \"text\" is for language models; a plug-in's model is trained on"),
                    HasSubstr("or on a plug-in's data (data.plugin)")));
}

TEST(PluginConfig, ItsDataTrainsBuiltInAndTorchScriptModels) {
  const RunConfig built_in = load_text("{" + kData + "}", {"data.sequence_length=16"});
  EXPECT_EQ(built_in.model.type, "llama");
  EXPECT_EQ(built_in.data.sequence_length, 16);
  const RunConfig image = load_text("{" + kData + R"(, "model": {"preset": "resnet18"}})");
  EXPECT_EQ(image.data.image_size, 224);
  const RunConfig script = load_text("{" + kData + R"(, "model": {"torchscript": "m.pt", "loss": "mse"}})");
  EXPECT_TRUE(script.data.inputs.empty());
  EXPECT_EQ(to_json(config_from_resolved(to_json(script))), to_json(script));
}

TEST(PluginConfig, HelpAndSchemaSayThatNamesAreThePlugins) {
  EXPECT_EQ(scope_text(*find_key("model.options")), "only for plug-ins (model.plugin)");
  EXPECT_EQ(scope_text(*find_key("data.plugin")), "only for plug-ins (data.plugin)");
  EXPECT_THAT(scope_text(*find_key("model.type")), HasSubstr("only for model.type llama, gpt2"));
  EXPECT_THAT(expected_text(*find_key("data.type")),
              HasSubstr("with data.plugin, the name of one of its own"));
  const json schema = config_schema().at("properties").at("model").at("properties");
  EXPECT_EQ(schema.at("type").at("anyOf").size(), 2U);
  EXPECT_EQ(schema.at("options").at("type"), "object");
}

}  // namespace
}  // namespace flopmark
