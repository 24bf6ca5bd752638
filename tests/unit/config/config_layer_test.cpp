#include "config/config_layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "config_files.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

std::string read_refusal(const std::filesystem::path& file) {
  return refusal([&] { read_config_files(file); });
}

TEST(ConfigLayer, FilesThatAreNoConfig) {
  const ConfigFiles files;
  EXPECT_THAT(read_refusal(files.path("none.json")),
              EndsWith("none.json: no such config file; check the path"));
  std::filesystem::create_directory(files.path("folder"));
  EXPECT_THAT(read_refusal(files.path("folder")), EndsWith("folder: is a folder; name a config file in it"));
  EXPECT_THAT(read_refusal(files.write("empty.json", "")),
              EndsWith("empty.json: is empty; the smallest config is {}"));
  EXPECT_THAT(read_refusal(files.write("big.json", std::string(262145, ' '))), HasSubstr("262145 bytes"));
  EXPECT_THAT(read_refusal(files.path(std::string(300, 'x'))),
              HasSubstr("cannot be read: File name too long"));
  ASSERT_EQ(mkfifo(files.path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(read_refusal(files.path("pipe")), EndsWith("pipe: is not a regular file"));
  EXPECT_EQ(read_refusal(""), "\"\": no such config file; check the path");
}

TEST(ConfigLayer, UnreadableFile) {
  const ConfigFiles files;
  const auto file = files.write("secret.json", "{}");
  std::filesystem::permissions(file.parent_path(), std::filesystem::perms::all);
  std::filesystem::permissions(file, std::filesystem::perms::none);
  const Unprivileged other;
  EXPECT_THAT(read_refusal(file), EndsWith("secret.json: cannot be read: Permission denied"));
}

TEST(ConfigLayer, TopLevelMustBeAnObject) {
  for (const char* text : {"[]", "3", "null", "\"x\"", "[{\"name\": \"a\"}]"}) {
    EXPECT_THAT(refused_text(text), HasSubstr("expected an object of keys")) << text;
  }
  EXPECT_EQ(refused_text("[1]"), "run.json: the config: found an array, expected an object of keys");
}

TEST(ConfigLayer, SectionsMustBeObjects) {
  EXPECT_EQ(refused_text("{\n\"model\": \"llama\"}"),
            "run.json:2: model: found \"llama\", expected an object of keys");
  EXPECT_EQ(refused_text("{\"train\": {\"optimizer\": null}}"),
            "run.json:1: train.optimizer: found null, expected an object of keys");
}

TEST(ConfigLayer, WrongValuesNamePlaceFoundAndExpected) {
  EXPECT_EQ(refused_text("{\"measure\":\n{\"steps\": \"ten\"}}"),
            "run.json:2: measure.steps: found \"ten\", expected a whole number from 1 to 10000000");
  EXPECT_EQ(refused_text("{\"data\": {\"batch_size\": 2.5}}"),
            "run.json:1: data.batch_size: found 2.5, expected a whole number from 1 to 2147483647");
  EXPECT_EQ(refused_text("{\"train\": {\"seed\": 9223372036854775808}}"),
            "run.json:1: train.seed: found 9223372036854775808, expected a whole number from 0 to "
            "9223372036854775807");
  EXPECT_EQ(refused_text("{\"train\": {\"optimizer\": {\"lr\": true}}}"),
            "run.json:1: train.optimizer.lr: found true, expected a number >= 0");
  EXPECT_EQ(refused_text("{\"model\": {\"layers\": {\"a\": 1}}}"),
            "run.json:1: model.layers: found an object, expected a whole number from 1 to 65536");
}

TEST(ConfigLayer, UnknownKeysAtEveryLevel) {
  EXPECT_EQ(refused_text("{\n\n\"batch_szie\": 2}"),
            "run.json:3: unknown key \"batch_szie\"; did you mean data.batch_size?");
  EXPECT_EQ(refused_text("{\"learning_rate\": 2}"),
            "run.json:1: unknown key \"learning_rate\"; did you mean train.optimizer.lr?");
  EXPECT_EQ(refused_text("{\"model\": {\"hiden\": 2}}"),
            "run.json:1: unknown key \"model.hiden\"; did you mean model.hidden_size?");
  EXPECT_EQ(refused_text("{\"train\": {\"optimizer\": {\"momentun\": 0}}}"),
            "run.json:1: unknown key \"train.optimizer.momentun\"; did you mean train.optimizer.momentum?");
  EXPECT_EQ(refused_text("{\"peak\": {\"flops\": 0}}"),
            "run.json:1: unknown key \"peak.flops\"; did you mean peak.flop_per_s?");
  EXPECT_THAT(refused_text("{\"\": 1}"), HasSubstr("unknown key \"\"; known at the top level: "));
  EXPECT_THAT(refused_text("{\"model.layers\": 1}"), HasSubstr("write model.layers as nested objects"));
  EXPECT_THAT(refused_text("{\"model\": {\"extends\": \"x\"}}"), HasSubstr("unknown key \"model.extends\""));
}

TEST(ConfigLayer, KeysOfFeaturesThatAreNotBuiltAreUnknown) {
  EXPECT_THAT(refused_text("{\"parallel\": {\"pipeline\": 1}}"), HasSubstr("unknown key"));
  for (const char* text : {"{\"model\": {\"type\": \"t5\"}}", "{\"train\": {\"precision\": \"fp8-mixed\"}}",
                           "{\"data\": {\"type\": \"video\"}}", "{\"model\": {\"preset\": \"t5-base\"}}"}) {
    EXPECT_THAT(refused_text(text), HasSubstr("expected one of")) << text;
  }
}

TEST(ConfigLayer, ExtendsMergesAndTheExtendingFileWins) {
  const ConfigFiles files;
  files.write("base/far.json",
              R"({"measure": {"steps": 7, "repeats": 3}, "train": {"optimizer": {"lr": 1}}})");
  files.write("base/near.json", R"({"extends": "far.json", "measure": {"steps": 8}})");
  const auto layer = read_config_files(files.write(
      "top.json", R"({"extends": "base/near.json", "train": {"optimizer": {"weight_decay": 0}}})"));
  EXPECT_EQ(layer.at("measure.steps").value, 8);
  EXPECT_EQ(layer.at("measure.repeats").value, 3);
  EXPECT_EQ(layer.at("train.optimizer.lr").value, 1);
  EXPECT_EQ(layer.at("train.optimizer.weight_decay").value, 0);
  EXPECT_EQ(layer.size(), 4U);
  EXPECT_EQ(layer.at("measure.steps").folder, files.path("base"));
}

TEST(ConfigLayer, TheNameIsNotInherited) {
  const ConfigFiles files;
  files.write("far.json", R"({"name": "far"})");
  files.write("near.json", R"({"extends": "far.json", "name": "near", "measure": {"steps": 8}})");
  const auto unnamed = files.write("top.json", R"({"extends": "near.json"})");
  EXPECT_FALSE(read_config_files(unnamed).contains("name"));
  EXPECT_EQ(read_config_files(unnamed).at("measure.steps").value, 8);
  const auto named = files.write("named.json", R"({"extends": "near.json", "name": "own"})");
  EXPECT_EQ(read_config_files(named).at("name").value, "own");
  EXPECT_EQ(read_config_files(files.path("near.json")).at("name").value, "near");
}

TEST(ConfigLayer, AFaultInAnExtendedFileNamesThatFile) {
  const ConfigFiles files;
  files.write("base.json", "{\"measure\": {\"steps\": 0}}");
  EXPECT_THAT(read_refusal(files.write("top.json", R"({"extends": "base.json", "measure": {"steps": 5}})")),
              HasSubstr("base.json:1: measure.steps: found 0"));
}

TEST(ConfigLayer, ExtendsThatCannotBeFollowed) {
  const ConfigFiles files;
  EXPECT_THAT(read_refusal(files.write("a.json", "{\n\"extends\": \"none.json\"}")),
              AllOf(HasSubstr("none.json (\"extends\" of "), HasSubstr("a.json:2): no such config file")));
  EXPECT_THAT(read_refusal(files.write("a.json", "{\"extends\": \".\"}")), HasSubstr("is a folder"));
  for (const char* value : {"3", "null", "\"\"", "[\"a.json\"]", "\"a\\u0000b\""}) {
    EXPECT_THAT(read_refusal(files.write("a.json", std::string("{\"extends\": ") + value + "}")),
                HasSubstr("a.json:1: extends: found "))
        << value;
  }
  EXPECT_THAT(read_refusal(files.write("a.json", "{\"$schema\": 3}")),
              HasSubstr("a.json:1: $schema: found 3"));
}

TEST(ConfigLayer, CirclesAreRefusedWithTheChain) {
  const ConfigFiles files;
  const auto self = files.write("self.json", "{\"extends\": \"./x/../self.json\"}");
  EXPECT_THAT(read_refusal(self), HasSubstr("goes in a circle"));
  const auto a = files.write("a.json", "{\"extends\": \"b.json\"}");
  const auto b = files.write("b.json", "{\"extends\": \"c.json\"}");
  std::filesystem::create_symlink("a.json", files.path("c.json"));
  EXPECT_EQ(read_refusal(a), b.string() + ": \"extends\" goes in a circle: " + a.string() + " -> " +
                                 b.string() + " -> " + files.path("c.json").string() +
                                 "; remove one of them");
}

TEST(ConfigLayer, TheSameFileUnderTwoNamesInARowIsNoChain) {
  const ConfigFiles files;
  files.write("base.json", "{}");
  EXPECT_NO_THROW(
      read_config_files(files.write("top.json", R"({"$schema": "./schema.json", "extends": "base.json"})")));
}

TEST(ConfigLayer, SetsReplaceAndComeInOrder) {
  ConfigLayer layer;
  add_set("measure.steps=5", layer);
  add_set("measure.steps=6", layer);
  EXPECT_EQ(layer.at("measure.steps").value, 6);
  add_set("train.optimizer={\"lr\": 0.5, \"weight_decay\": 0}", layer);
  EXPECT_EQ(layer.at("train.optimizer.lr").value, 0.5);
  EXPECT_EQ(layer.at("train.optimizer.weight_decay").value, 0);
  add_set("train.gradient_clip=null", layer);
  EXPECT_EQ(layer.at("train.gradient_clip").value, nullptr);
  EXPECT_EQ(layer.at("train.gradient_clip").folder, std::filesystem::current_path());
}

TEST(ConfigLayer, SetValuesAreJsonElseText) {
  ConfigLayer layer;
  add_set("data.type=tokens", layer);
  add_set("data.path=\"a=b.bin\"", layer);
  EXPECT_EQ(layer.at("data.type").value, "tokens");
  EXPECT_EQ(layer.at("data.path").value, "a=b.bin");
  add_set("data.path=x=y", layer);
  EXPECT_EQ(layer.at("data.path").value, "x=y");
  add_set("name=2024", layer);  // a string key takes the text as it is
  EXPECT_EQ(layer.at("name").value, "2024");
}

TEST(ConfigLayer, SetsThatAreRefused) {
  ConfigLayer layer;
  const auto refused = [&](const std::string& text) { return refusal([&] { add_set(text, layer); }); };
  EXPECT_EQ(refused("measure.steps"),
            "--set \"measure.steps\": expected key=value, such as --set measure.steps=100");
  EXPECT_THAT(refused("=5"), HasSubstr("expected key=value"));
  EXPECT_EQ(refused("measure.steps=ten"),
            "--set \"measure.steps=ten\": measure.steps: found \"ten\", expected a whole number from 1 to "
            "10000000");
  EXPECT_THAT(refused("measure.steps="), HasSubstr("found \"\""));
  EXPECT_THAT(refused("steps=3"), HasSubstr("unknown key \"steps\"; did you mean measure.steps?"));
  EXPECT_THAT(refused("model.hiden=3"), HasSubstr("did you mean model.hidden_size?"));
  EXPECT_THAT(refused("a.b.c=3"), HasSubstr("unknown key \"a\""));
  for (const char* key : {"model.", ".model", "model..layers", ".", "model.layers.x", " measure.steps"}) {
    EXPECT_FALSE(refused(std::string(key) + "=3").empty()) << key;
  }
  EXPECT_THAT(refused("model=llama"), HasSubstr("model: found \"llama\", expected an object"));
  EXPECT_THAT(refused("extends=a.json"), HasSubstr("in a config file only"));
  EXPECT_THAT(refused("train={\"seed\": 1, \"seed\": 2}"), HasSubstr("given twice"));
  EXPECT_THAT(refused("train=" + std::string(100, '[') + std::string(100, ']')),
              HasSubstr("nested more than"));
  EXPECT_THAT(refused("data.inputs=[{\"shape\": [2 3]}]"), HasSubstr(":1:15: not valid JSON: "));
  EXPECT_THAT(refused("data.path=\xff"), HasSubstr("data.path: found "));
  EXPECT_THAT(refused(std::string(10000, '.') + "=1"), HasSubstr("unknown key"));
  EXPECT_TRUE(layer.empty());
}

}  // namespace
}  // namespace flopmark
