#include "data/image_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <filesystem>

#include "data/datasets.h"
#include "data/loader.h"
#include "flopmark/error.h"
#include "unit/data/picture_files.h"
#include "unit/data/temp_folder.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// A folder whose files are named by class.
struct PictureFolder {
  std::string add(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((folder.path() / name).parent_path());
    return folder.file(name, bytes);
  }
  RunConfig config(int64_t classes = 10, int64_t size = 4) const {
    RunConfig config;
    config.model.type = "resnet";
    config.model.classes = classes;
    config.model.image_size = config.data.image_size = size;
    config.model.image_channels = config.data.image_channels = 3;
    config.data.type = "images";
    config.data.path = folder.path();
    return config;
  }
  TempFolder folder;
};

std::string refused(const RunConfig& config) {
  try {
    const auto dataset = make_dataset(config);
    dataset->collate({0});
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
}

// Public case A26: RGB, grey, grey and alpha, RGBA, and notes.txt.
TEST(ImageDataset, AFolderOfMixedPicturesIsOneBatch) {
  const PictureFolder pictures;
  pictures.add("b/grey.PNG", png_file(plain_picture(8, 8, {51})));
  pictures.add("b/grey-alpha.png", png_file(plain_picture(9, 5, {51, 7})));
  pictures.add("a/rgb.jpg", jpeg_file(plain_picture(30, 20, {255, 255, 255})));
  pictures.add("a/deep/rgba.png", png_file(plain_picture(3, 6, {0, 51, 255, 0})));
  pictures.add("a/notes.txt", "not a picture");
  pictures.add(".hidden/x.png", "not looked at");
  const auto dataset = make_dataset(pictures.config());
  EXPECT_EQ(dataset->size(), 4);
  EXPECT_EQ(dataset->facts().format, "folder of 2 classes, 1 other file skipped");
  const Batch batch = dataset->collate({0, 1, 2, 3});
  EXPECT_EQ(batch.samples, 4);
  EXPECT_EQ(batch.images, 4);
  EXPECT_EQ(batch.tokens, 0);
  EXPECT_EQ(batch.inputs[0].sizes(), (std::vector<int64_t>{4, 3, 4, 4}));
  EXPECT_EQ(batch.inputs[0].scalar_type(), torch::kFloat32);
  const auto* labels = batch.inputs[1].const_data_ptr<int64_t>();
  EXPECT_THAT(std::vector<int64_t>(labels, labels + 4), ElementsAre(0, 0, 1, 1)) << "a/deep, a/rgb, b, b";
  // (51 / 255 - mean) / deviation by hand: (0.2 - 0.485) / 0.229 and so on.
  const auto values = batch.inputs[0].accessor<float, 4>();
  EXPECT_NEAR(values[2][0][1][1], (0.2 - 0.485) / 0.229, 1e-4);
  EXPECT_NEAR(values[2][1][0][0], (0.2 - 0.456) / 0.224, 1e-4);
  EXPECT_NEAR(values[2][2][3][3], (0.2 - 0.406) / 0.225, 1e-4);
  EXPECT_NEAR(values[0][0][2][2], (0.0 - 0.485) / 0.229, 1e-4) << "alpha 0 does not blacken or whiten";
  EXPECT_NEAR(values[0][2][2][2], (1.0 - 0.406) / 0.225, 1e-4);
  EXPECT_NEAR(values[1][1][2][1], (1.0 - 0.456) / 0.224, 0.02);
  EXPECT_TRUE(torch::equal(batch.inputs[0][2], batch.inputs[0][3]));
}

TEST(ImageDataset, OneChannelIsLuma) {
  const PictureFolder pictures;
  pictures.add("x.png", png_file(plain_picture(4, 4, {255, 0, 0})));
  RunConfig config = pictures.config();
  config.data.image_channels = config.model.image_channels = 1;
  const Batch batch = make_dataset(config)->collate({0});
  EXPECT_EQ(batch.inputs[0].sizes(), (std::vector<int64_t>{1, 1, 4, 4}));
  EXPECT_NEAR(batch.inputs[0][0][0][0][0].item<float>(), (0.299 - 0.449) / 0.226, 1e-4);
}

TEST(ImageDataset, AFlatFolderIsOneClass) {
  const PictureFolder pictures;
  pictures.add("x.png", png_file(plain_picture(4, 4, {1})));
  pictures.add("y.jpeg", jpeg_file(plain_picture(4, 4, {1})));
  const auto dataset = make_dataset(pictures.config());
  EXPECT_EQ(dataset->facts().format, "flat folder, one class");
  EXPECT_EQ(dataset->collate({0, 1}).inputs[1].sum().item<int64_t>(), 0);
  EXPECT_EQ(dataset->facts().hash->size(), 16u);
}

TEST(ImageDataset, TheLayoutIsChecked) {
  const PictureFolder empty;
  EXPECT_THAT(refused(empty.config()), HasSubstr("holds no picture"));
  const PictureFolder both;
  both.add("a/x.png", png_file(plain_picture(4, 4, {1})));
  both.add("y.png", png_file(plain_picture(4, 4, {1})));
  EXPECT_THAT(refused(both.config()), AllOf(HasSubstr("y.png"), HasSubstr("beside the class folders (a")));
  const PictureFolder hole;
  hole.add("a/x.png", png_file(plain_picture(4, 4, {1})));
  hole.add("b/notes.txt", "");
  EXPECT_THAT(refused(hole.config()), HasSubstr("the class folder b holds no picture"));
}

TEST(ImageDataset, MoreClassesThanTheModelHasAreToldBeforeTraining) {
  const PictureFolder pictures;
  for (const char* name : {"a/x.png", "b/x.png", "c/x.png"}) {
    pictures.add(name, png_file(plain_picture(4, 4, {1})));
  }
  EXPECT_THAT(refused(pictures.config(2)), AllOf(HasSubstr("has 3 classes, but model.classes is 2"),
                                                 HasSubstr("set model.classes to 3 or more")));
  EXPECT_EQ(refused(pictures.config(3)), "accepted");
  RunConfig language = pictures.config(0);
  language.model.vocab_size = 256;
  EXPECT_THAT(refused(language), HasSubstr("reads token ids"));
}

TEST(ImageDataset, ABadFileIsNamedBeforeTraining) {
  const std::string jpeg = jpeg_file(plain_picture(40, 40, {1}));
  for (const auto& [bytes, reason] : {std::pair<std::string, const char*>{"", "is empty"},
                                      {"some text", "neither JPEG nor PNG"},
                                      {png_file(plain_picture(4, 4, {1})).substr(0, 20), "cut short"},
                                      {jpeg.substr(0, jpeg.size() - 10), "cut short"}}) {
    const PictureFolder pictures;
    pictures.add("a/good.png", png_file(plain_picture(4, 4, {1})));
    pictures.add("a/odd.jpg", bytes);
    EXPECT_THAT(refused(pictures.config()), AllOf(HasSubstr("a/odd.jpg"), HasSubstr(reason)));
  }
}

TEST(ImageDataset, AFileThatOnlyDecodingShowsToBeBrokenIsNamedThen) {
  const PictureFolder pictures;
  std::string flipped = png_file(plain_picture(40, 40, {1, 2, 3}));
  flipped[flipped.size() - 20] ^= 0x55;  // of the last coded bytes
  pictures.add("a/odd.png", flipped);
  auto dataset = std::shared_ptr<const Dataset>(make_dataset(pictures.config()));
  Loader loader(dataset, {.batch_size = 1, .workers = 2});
  try {
    loader.next();
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("a/odd.png"), HasSubstr("cannot decode the PNG picture")));
  }
}

TEST(ImageDataset, ManyWorkersMakeTheSameBytesAsOne) {
  const PictureFolder pictures;
  for (int i = 0; i < 24; ++i) {
    PictureToWrite picture{20 + i, 40 - i, 3, {}};
    for (int k = 0; k < picture.width * picture.height * 3; ++k) {
      picture.values.push_back(static_cast<uint8_t>(k * (i + 3)));
    }
    const std::string name = std::string(i % 2 == 0 ? "a/" : "b/") + std::to_string(i);
    pictures.add(name + (i % 3 == 0 ? ".png" : ".jpg"), i % 3 == 0 ? png_file(picture) : jpeg_file(picture));
  }
  auto dataset = std::shared_ptr<const Dataset>(make_dataset(pictures.config(2, 16)));
  Loader one(dataset, {.batch_size = 5, .workers = 1, .drop_last = false, .seed = 3});
  Loader many(dataset, {.batch_size = 5, .workers = 8, .prefetch = 8, .drop_last = false, .seed = 3});
  for (int i = 0; i < 15; ++i) {
    const Batch a = one.next(), b = many.next();
    EXPECT_EQ(a.samples, i % 5 == 4 ? 4 : 5) << "24 = 4 x 5 + 4";
    EXPECT_EQ(a.images, a.samples);
    EXPECT_TRUE(torch::equal(a.inputs[0], b.inputs[0]));
    EXPECT_TRUE(torch::equal(a.inputs[1], b.inputs[1]));
  }
}

}  // namespace
}  // namespace flopmark
