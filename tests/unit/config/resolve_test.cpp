#include "config/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "config/presets.h"
#include "config_files.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Resolve, PresetFollowsTypeAndTypeFollowsPreset) {
  EXPECT_EQ(load_text("{}").model.preset, "llama-tiny");
  EXPECT_EQ(load_text(R"({"model": {"type": "gpt2"}})").model.preset, "gpt2-124m");
  EXPECT_EQ(load_text(R"({"model": {"type": "mlp"}})").model.preset, "mlp-784-512-512-10");
  const RunConfig config = load_text(R"({"model": {"preset": "gpt2-355m"}})");
  EXPECT_EQ(config.model.type, "gpt2");
  EXPECT_EQ(config.model.hidden_size, 1024);
}

TEST(Resolve, KeysOverrideThePresetWhereverTheyStand) {
  const RunConfig config = load_text(R"({"model": {"layers": 3, "preset": "llama-1b"}})");
  EXPECT_EQ(config.model.layers, 3);
  EXPECT_EQ(config.model.hidden_size, 2048);
  EXPECT_TRUE(config.model.tied_embeddings);
  const RunConfig set =
      load_text(R"({"model": {"layers": 3, "preset": "llama-1b"}})", {"model.preset=llama-7b"});
  EXPECT_EQ(set.model.layers, 3);
  EXPECT_EQ(set.model.hidden_size, 4096);
  EXPECT_EQ(set.model.preset, "llama-7b");
}

TEST(Resolve, PresetOfAnotherTypeIsRefused) {
  EXPECT_THAT(
      refused_text("{\"model\": {\"type\": \"mlp\",\n\"preset\": \"llama-7b\"}}"),
      AllOf(StartsWith("run.json:2: model.preset \"llama-7b\" is a llama model, but model.type is \"mlp\" ("),
            EndsWith("run.json:1); change one of them")));
  EXPECT_THAT(refused_text(R"({"model": {"preset": "llama-7b"}})", {"model.type=gpt2"}),
              EndsWith("but model.type is \"gpt2\" (--set \"model.type=gpt2\"); change one of them"));
}

TEST(Resolve, HeadsMustFit) {
  EXPECT_EQ(refused_text("{\"model\": {\n\"heads\": 3}}"),
            "run.json:2: model.heads 3 does not divide model.hidden_size 64");
  EXPECT_EQ(refused_text(R"({"model": {"kv_heads": 3}})"),
            "run.json:1: model.kv_heads 3 does not divide model.heads 4");
  EXPECT_THAT(refused_text(R"({"model": {"heads": 64}})"), HasSubstr("need an even head size"));
  EXPECT_THAT(refused_text(R"({"model": {"type": "gpt2"}})", {"model.heads=7"}),
              HasSubstr("--set \"model.heads=7\": model.heads 7 does not divide"));
  EXPECT_EQ(load_text(R"({"model": {"type": "gpt2", "heads": 768}})").model.heads,
            768);  // odd head size: no rotation
  EXPECT_EQ(load_text(R"({"model": {"heads": 8, "kv_heads": 8}})").model.kv_heads, 8);
}

TEST(Resolve, Gpt2SequenceMustFitItsPositions) {
  const std::string gpt2 = R"({"model": {"type": "gpt2"}, "data": {"sequence_length": )";
  EXPECT_EQ(load_text(gpt2 + "1024}}").data.sequence_length, 1024);
  EXPECT_EQ(refused_text(gpt2 + "1025}}"),
            "run.json:1: data.sequence_length 1025 is more than model.max_sequence_length 1024");
  EXPECT_EQ(load_text(R"({"data": {"sequence_length": 8192}})").data.sequence_length, 8192);
}

TEST(Resolve, MlpInputIsTheImage) {
  const std::vector<std::string> colour = {"model.input_size=3072", "data.image_size=32",
                                           "data.image_channels=3"};
  EXPECT_EQ(load_text(R"({"model": {"type": "mlp"}})", colour).data.image_channels, 3);
  EXPECT_EQ(
      refused_text(R"({"model": {"type": "mlp", "input_size": 100}})"),
      "run.json:1: model.input_size 100 is not data.image_channels 1 x data.image_size 28 squared = 784");
  EXPECT_THAT(
      refused_text(R"({"model": {"type": "mlp"}, "data": {"image_size": 65536, "image_channels": 65536}})"),
      HasSubstr("= 281474976710656"));
}

TEST(Resolve, ImageModelsReadSyntheticDataOnly) {
  for (const char* type : {"tokens", "text"}) {
    EXPECT_THAT(refused_text(R"({"model": {"type": "mlp"}})", {std::string("data.type=") + type}),
                HasSubstr("is for language models, but model.type is \"mlp\""));
    EXPECT_THAT(refused_text(R"({"model": {"type": "resnet"}})", {std::string("data.type=") + type}),
                HasSubstr("is for language models, but model.type is \"resnet\""));
    EXPECT_THAT(refused_text(R"({"model": {"type": "vit"}})", {std::string("data.type=") + type}),
                HasSubstr("is for language models, but model.type is \"vit\""));
  }
}

TEST(Resolve, ImagesAreThePresetsUnlessGiven) {
  const RunConfig published = load_text(R"({"model": {"preset": "vit-b-16"}})");
  EXPECT_EQ(published.data.image_size, 224);
  EXPECT_EQ(published.data.image_channels, 3);
  const RunConfig small = load_text(R"({"model": {"preset": "vit-b-16"}, "data": {"image_size": 32}})");
  EXPECT_EQ(small.data.image_size, 32);
  EXPECT_EQ(small.model.image_size, 32);
  EXPECT_EQ(small.model.image_channels, 3);
  EXPECT_EQ(config_from_resolved(to_json(small)).model.image_size, 32);
  const RunConfig resnet = load_text(R"({"model": {"preset": "resnet101"}, "data": {"image_size": 64}})");
  const RunConfig back = config_from_resolved(to_json(resnet));
  EXPECT_EQ(back.model.stage_blocks, (std::array<int64_t, 4>{3, 4, 23, 3}));
  EXPECT_TRUE(back.model.bottleneck);
  EXPECT_EQ(back.model.image_size, 64);
  EXPECT_EQ(load_text(R"({"model": {"type": "mlp"}})").data.image_size, 28);
}

TEST(Resolve, VitPatchesAndHeadsMustFit) {
  EXPECT_EQ(refused_text(R"({"model": {"type": "vit"}, "data": {"image_size": 40}})"),
            "run.json:1: data.image_size 40 is not a multiple of model.patch_size 16");
  EXPECT_EQ(refused_text(R"({"model": {"type": "vit", "heads": 7}})"),
            "run.json:1: model.heads 7 does not divide model.hidden_size 768");
  EXPECT_EQ(load_text(R"({"model": {"type": "vit", "heads": 768}})").model.heads, 768);
}

TEST(Resolve, BertReadsTokensUpToItsPositions) {
  const RunConfig config = load_text(R"({"model": {"type": "bert"}})");
  EXPECT_EQ(config.model.preset, "bert-base");
  EXPECT_EQ(config.data.sequence_length, 128);
  EXPECT_EQ(refused_text(R"({"model": {"type": "bert"}, "data": {"sequence_length": 513}})"),
            "run.json:1: data.sequence_length 513 is more than model.max_sequence_length 512");
  EXPECT_EQ(refused_text(R"({"model": {"type": "bert", "heads": 7}})"),
            "run.json:1: model.heads 7 does not divide model.hidden_size 768");
}

TEST(Resolve, ATokenMeetsNoMoreExpertsThanThereAre) {
  const RunConfig config = load_text(R"({"model": {"type": "mixtral", "experts": 2}})");
  EXPECT_EQ(config.model.experts_per_token, 2);
  EXPECT_EQ(config_from_resolved(to_json(config)).model.experts, 2);
  EXPECT_EQ(refused_text(R"({"model": {"type": "mixtral", "experts": 1}})"),
            "run.json:1: model.experts_per_token 2 is more than model.experts 1");
  EXPECT_EQ(refused_text(R"({"model": {"type": "mixtral", "kv_heads": 3}})"),
            "run.json:1: model.kv_heads 3 does not divide model.heads 4");
}

TEST(Resolve, TextNeedsAVocabularyOfBytes) {
  const ConfigFiles files;
  files.write("a.txt", "hello");
  const auto file = files.write("run.json", R"({"data": {"type": "text", "path": "a.txt"}})");
  EXPECT_EQ(load_config(file).data.path, files.path("a.txt").string());
  EXPECT_THAT(refusal([&] { load_config(file, {"model.vocab_size=255"}); }),
              HasSubstr("bytes need at least 256"));
}

TEST(Resolve, KeysThatDoNotApplyAreRefused) {
  EXPECT_EQ(
      refused_text(R"({"model": {"type": "mlp", "ffn_size": 4}})"),
      "run.json:1: model.ffn_size does not apply to model.type \"mlp\", only to llama, gpt2, vit, bert, "
      "mixtral; remove it or change the type");
  const std::vector<std::vector<std::string>> wrong = {
      {"model.type=gpt2", "model.kv_heads=2"},
      {"model.type=llama", "model.dropout=0.1"},
      {"model.type=llama", "model.classes=3"},
      {"model.type=llama", "data.image_size=28"},
      {"model.type=mlp", "data.sequence_length=32"},
      {"model.type=vit", "data.sequence_length=32"},
      {"model.type=mlp", "model.patch_size=4"},
      {"model.type=resnet", "model.layers=50"},
      {"model.type=bert", "model.kv_heads=2"},
      {"model.type=bert", "data.image_size=28"},
      {"model.type=convnet", "model.layers=13"},
      {"model.type=llama", "train.channels_last=true"},
      {"model.type=mlp", "train.channels_last=true"},
      {"model.type=vit", "train.channels_last=true"},
      {"model.type=lstm", "model.heads=2"},
      {"model.type=lstm", "model.ffn_size=4"},
      {"model.type=lstm", "train.activation_checkpointing=full"},
      {"model.type=llama", "model.experts=4"},
      {"model.type=convnet", "data.sequence_length=32"},
      {"model.type=resnet", "model.dropout=0.1"},
      {"data.type=synthetic", "data.format=auto"},
      {"data.type=synthetic", "data.path=a.bin"},
      {"train.optimizer.type=sgd", "train.optimizer.eps=1"},
      {"train.optimizer.type=adamw", "train.optimizer.momentum=0"}};
  for (const auto& sets : wrong)
    EXPECT_THAT(refused_text("{}", sets), HasSubstr("does not apply to")) << sets[1];
}

TEST(Resolve, WarmupLimitsMustBeInOrder) {
  EXPECT_EQ(refused_text(R"({"measure": {"warmup_min_steps": 201}})"),
            "run.json:1: measure.warmup_min_steps 201 is more than measure.warmup_max_steps 200");
  EXPECT_EQ(
      load_text(R"({"measure": {"warmup_min_steps": 0, "warmup_max_steps": 0}})").measure.warmup_max_steps,
      0);
}

TEST(Resolve, DataPathIsRequiredAndMustBeAFile) {
  const ConfigFiles files;
  const auto file = files.write("run.json", R"({"data": {"type": "tokens"}})");
  const auto refused = [&](const std::vector<std::string>& sets) {
    return refusal([&] { load_config(file, sets); });
  };
  EXPECT_THAT(refused({}), HasSubstr("data.path is missing: data.type \"tokens\" reads a file"));
  EXPECT_THAT(refused({"data.path=" + files.path("none.bin").string()}), HasSubstr("no such file"));
  EXPECT_THAT(refused({"data.path=" + files.path("").string()}), HasSubstr("is a folder, expected a file"));
  EXPECT_THAT(refused({"data.path=" + files.path("run.json").string() + "/x"}), HasSubstr("no such file"));
  EXPECT_THAT(refused({"data.path=" + std::string(300, 'x')}),
              HasSubstr("cannot be read: File name too long"));
  ASSERT_EQ(mkfifo(files.path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(refused({"data.path=" + files.path("pipe").string()}), HasSubstr("is not a regular file"));
}

TEST(Resolve, UnreadableDataFile) {
  const ConfigFiles files;
  const auto data = files.write("secret.bin", "xx");
  const auto file = files.write("run.json", R"({"data": {"type": "tokens", "path": "secret.bin"}})");
  std::filesystem::permissions(file.parent_path(), std::filesystem::perms::all);
  std::filesystem::permissions(data, std::filesystem::perms::none);
  const Unprivileged other;
  EXPECT_THAT(refusal([&] { load_config(file); }),
              EndsWith("secret.bin\": cannot be read: Permission denied"));
}

TEST(Resolve, DataPathIsRelativeToTheConfigThatNamesIt) {
  const ConfigFiles files;
  const auto data = files.write("base/corpus.bin", "xx");
  files.write("base/base.json", R"({"data": {"type": "tokens", "path": "./corpus.bin"}})");
  const auto top = files.write("top.json", R"({"extends": "base/base.json"})");
  EXPECT_EQ(load_config(top).data.path, data.string());
  const auto back = std::filesystem::current_path();
  std::filesystem::current_path(files.path(""));
  EXPECT_EQ(load_config("top.json").data.path, data.string());
  EXPECT_EQ(load_config("base/base.json", {"data.path=base/corpus.bin"}).data.path, data.string());
  EXPECT_THAT(refusal([] { load_config("base/base.json", {"data.path=corpus.bin"}); }),
              HasSubstr("no such file"));
  std::filesystem::current_path(back);
}

TEST(Resolve, DataPathInAFolderThatIsNotUtf8) {
  const ConfigFiles files;
  files.write("\xff/corpus.bin", "xx");
  const auto file = files.write("\xff/run.json", R"({"data": {"type": "tokens", "path": "corpus.bin"}})");
  EXPECT_THAT(refusal([&] { load_config(file); }), HasSubstr("only paths in UTF-8"));
}

}  // namespace
}  // namespace flopmark
