// Which data goes with which model, and how it is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_files.h"

namespace flopmark {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// A config whose data lies in the folder pictures/ or the files x.npy and y.npy beside it.
struct DataFiles : ConfigFiles {
  DataFiles() {
    write("pictures/a/x.png", "");
    write("x.npy", "");
    write("y.npy", "");
  }
  RunConfig load(const std::string& model, const std::string& data) const {
    return load_config(write("run.json", "{\"model\": {" + model + "}, \"data\": {" + data + "}}"));
  }
  std::string refused(const std::string& model, const std::string& data) const {
    return refusal([&] { load(model, data); });
  }
};

const std::string kResnet = R"("preset": "resnet18")";
const std::string kFile = R"("torchscript": "m.pt")";
const std::string kPictures = R"("type": "images", "path": "pictures")";

TEST(DataConfig, ImagesTakeSizeAndChannelsFromTheModel) {
  const DataFiles files;
  const RunConfig config = files.load(kResnet, kPictures);
  EXPECT_EQ(config.data.path, files.path("pictures").string());
  EXPECT_EQ(config.data.image_size, 224);
  EXPECT_EQ(config.data.image_channels, 3);
  EXPECT_EQ(files.load(kResnet, kPictures + R"(, "image_size": 64)").model.image_size, 64);
  const json written = to_json(config);
  EXPECT_EQ(to_json(config_from_resolved(written)), written);
  EXPECT_FALSE(written.at("data").contains("paths"));
}

TEST(DataConfig, ImagesForAModelFromAFile) {
  const DataFiles files;
  const RunConfig config = files.load(kFile, kPictures + R"(, "batch_size": 7)");
  EXPECT_EQ(config.data.image_size, 224);
  EXPECT_EQ(config.data.image_channels, 3);
  EXPECT_EQ(config.data.batch_size, 7);
  EXPECT_EQ(files.load(kFile, kPictures + R"(, "image_size": 96)").data.image_size, 96);
  const json written = to_json(config);
  EXPECT_EQ(written.at("data").at("image_size"), 224);
  EXPECT_FALSE(written.at("data").contains("inputs"));
  EXPECT_EQ(to_json(config_from_resolved(written)), written);
  EXPECT_THAT(files.refused(kFile, R"("image_size": 96, "inputs": [{"shape": [1], "dtype": "float32"}])"),
              HasSubstr("data.image_size does not apply to a TorchScript model"));
}

TEST(DataConfig, PicturesAreNotForEveryModelNorEveryChannelCount) {
  const DataFiles files;
  EXPECT_THAT(files.refused(R"("preset": "llama-tiny")", kPictures),
              AllOf(HasSubstr("data.type \"images\" holds pictures"), HasSubstr("reads token ids")));
  EXPECT_THAT(files.refused(kResnet, kPictures + R"(, "image_channels": 4)"),
              HasSubstr("data.image_channels 4: pictures are read in 3 channels, or in 1"));
  EXPECT_EQ(files.load(kResnet, kPictures + R"(, "image_channels": 1)").model.image_channels, 1);
  EXPECT_THAT(files.refused(kResnet, R"("type": "images", "path": "x.npy")"),
              HasSubstr("is a file, expected a folder of pictures"));
  EXPECT_THAT(files.refused(kResnet, R"("type": "images", "path": "no")"), HasSubstr("no such folder"));
  EXPECT_THAT(files.refused(kResnet, R"("type": "images")"), HasSubstr("data.path is missing"));
}

TEST(DataConfig, Cifar10FixesTheImageSize) {
  const DataFiles files;
  const std::string cifar = R"("type": "cifar10", "path": "pictures")";
  const RunConfig config = files.load(kResnet, cifar);
  EXPECT_EQ(config.data.image_size, 32);
  EXPECT_EQ(config.model.image_size, 32);
  EXPECT_THAT(files.refused(kResnet, cifar + R"(, "image_size": 224)"),
              AllOf(HasSubstr("data.image_size 224"), HasSubstr("32 x 32 in 3 channels; remove both")));
  const json written = to_json(config);
  EXPECT_EQ(to_json(config_from_resolved(written)), written);
  EXPECT_EQ(files.load(kFile, cifar).data.image_size, 32);
}

TEST(DataConfig, TensorsAreOneFileOrSeveral) {
  const DataFiles files;
  const RunConfig one = files.load(kFile, R"("type": "tensors", "path": "x.npy", "batch_size": 3)");
  EXPECT_EQ(one.data.path, files.path("x.npy").string());
  EXPECT_EQ(one.data.batch_size, 3);
  const RunConfig two = files.load(kFile, R"("type": "tensors", "paths": ["x.npy", "y.npy"])");
  EXPECT_THAT(two.data.paths, ElementsAre(files.path("x.npy").string(), files.path("y.npy").string()));
  const json written = to_json(two);
  EXPECT_FALSE(written.at("data").contains("path"));
  EXPECT_EQ(to_json(config_from_resolved(written)), written);
}

TEST(DataConfig, TensorsAreRefusedWithAReason) {
  const DataFiles files;
  EXPECT_THAT(files.refused(kFile, R"("type": "tensors")"), HasSubstr("data.path is missing"));
  EXPECT_THAT(files.refused(kFile, R"("type": "tensors", "path": "x.npy", "paths": ["y.npy"])"),
              HasSubstr("data.path and data.paths both name the data"));
  EXPECT_THAT(files.refused(kFile, R"("type": "tensors", "paths": [])"),
              HasSubstr("data.paths: found an array, expected an array of 1 to 64 paths"));
  EXPECT_THAT(files.refused(kFile, R"("type": "tensors", "paths": ["x.npy", "z.npy"])"),
              AllOf(HasSubstr("data.paths"), HasSubstr("z.npy"), HasSubstr("no such file")));
  EXPECT_THAT(files.refused(kFile, R"("type": "tensors", "path": "pictures")"), HasSubstr("is a folder"));
  EXPECT_THAT(files.refused(kResnet, R"("type": "tensors", "path": "x.npy")"),
              AllOf(HasSubstr("is for models from a file"), HasSubstr("\"resnet\"")));
  EXPECT_THAT(
      files.refused(kFile,
                    R"("type": "tensors", "path": "x.npy", "inputs": [{"shape": [1], "dtype": "bool"}])"),
      HasSubstr("data.inputs does not apply to data.type \"tensors\", only to synthetic"));
}

TEST(DataConfig, TheLoadersCostIsAskedFor) {
  EXPECT_EQ(load_text("{}").measure.loader, "normal");
  EXPECT_EQ(load_text(R"({"measure": {"loader": "both"}})").measure.loader, "both");
  EXPECT_THAT(refused_text(R"({"measure": {"loader": "cached"}})"),
              HasSubstr("expected one of normal, both"));
}

}  // namespace
}  // namespace flopmark
