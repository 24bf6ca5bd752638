// `flopmark run` on data files of every kind, and `flopmark data inspect` where it asks the worker.
#include <gmock/gmock.h>

#include "integration/tiny_run.h"
#include "unit/data/array_files.h"
#ifdef FLOPMARK_IMAGES
#include "unit/data/picture_files.h"
#endif

namespace flopmark::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DataRun : public TinyRun {
 protected:
  ProgramResult run_config(const nlohmann::json& config, const std::vector<std::string>& more = {}) const {
    std::ofstream(folder_ / "tiny.json") << config.dump();
    return run(more);
  }
  ProgramResult inspect(const std::string& path) const {
    ProgramOptions options;
    options.arguments = {"data", "inspect", path, "--format", "json"};
    options.folder = folder_;
    return run_program(FLOPMARK_PROGRAM, options);
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  static nlohmann::json measure() {
    return {{"warmup_min_steps", 2}, {"warmup_max_steps", 4}, {"steps", 6}, {"repeats", 1}, {"threads", 1}};
  }
};

// examples/mlp.pt takes [N, 32]; its last input, the label, goes to the loss. 10 samples in batches of 4.
TEST_F(DataRun, ArraysFromNumPyTrainAModelFile) {
  std::vector<float> values(320);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) / 17;
  write("x.npy", npy_file(npy_header("<f4", "(10, 32)"), as_bytes(values)));
  write("y.npy", npy_file(npy_header("<i8", "(10,)"), as_bytes<int64_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9})));
  nlohmann::json config = {
      {"model", {{"torchscript", FLOPMARK_SOURCE_DIR "/examples/mlp.pt"}, {"loss", "cross_entropy"}}},
      {"device", "cpu"},
      {"data", {{"type", "tensors"}, {"paths", {"x.npy", "y.npy"}}, {"batch_size", 4}, {"drop_last", false}}},
      {"measure", measure()}};
  const ProgramResult result = run_config(config);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(record()["data"]["samples"], 10);
  EXPECT_EQ(record()["data"]["format"], "npy");
  EXPECT_EQ(record()["config"]["data"]["paths"][1], "y.npy") << "below the store: as in everybody's checkout";
  const int64_t samples = record()["repeats"][0]["samples"];
  EXPECT_LT(samples, 6 * 4) << "short batches count the samples they have";
  EXPECT_EQ(samples % 2, 0);
  EXPECT_EQ(record()["flops"]["forward_flop"], 2 * 4 * (32 * 64 + 64 * 10)) << "counted in a whole batch";

  config["data"]["paths"] = {"x.npy"};
  EXPECT_EQ(run_config(config, {"--force"}).exit_code, 200) << "the target is missing";
  write("y.npy", npy_file(npy_header("<i8", "(9,)"), std::string(72, '\0')));
  config["data"]["paths"] = {"x.npy", "y.npy"};
  const ProgramResult uneven = run_config(config, {"--force"});
  EXPECT_EQ(uneven.exit_code, 200);
  EXPECT_THAT(uneven.err, HasSubstr("y.npy: has 9 of the first dimension"));
}

TEST_F(DataRun, TheLoadersCostIsInRecordAndSummary) {
  const ProgramResult result = run({"--set", "measure.loader=both"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json metrics = record()["metrics"];
  EXPECT_GT(metrics["step_cached_s"], 0);
  EXPECT_GT(metrics["step_to_cached_ratio"], 0.2);
  EXPECT_EQ(record()["repeats"][0]["steps"], 20) << "the second pass is in no other figure";
  EXPECT_THAT(result.out, AllOf(HasSubstr("Step time, cached batch"), HasSubstr("the loader costs")));
  ASSERT_EQ(run({"--force"}).exit_code, 0);
  EXPECT_TRUE(record()["metrics"]["step_cached_s"].is_null());
}

// 20 timed steps, then the pass on one batch, in whose step 7 the loss is lost.
TEST_F(DataRun, WhatEndsTheSecondPassLeavesTheTimedSteps) {
  const ProgramResult result = run_with_fault("nan@cached:7", {"--set", "measure.loader=both"});
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("the loss of cached step 7 is nan"), HasSubstr("in phase cached, step 7"),
                    HasSubstr("measure.loader both"), HasSubstr("the 20 timed steps before it")));
  const nlohmann::json failed = record();
  EXPECT_EQ(failed["status"], "failed");
  EXPECT_EQ(failed["failure"]["kind"], "nan_loss");
  EXPECT_EQ(failed["failure"]["phase"], "cached");
  EXPECT_EQ(failed["failure"]["step"], 7);
  EXPECT_EQ(failed["repeats"][0]["steps"], 20);
  EXPECT_EQ(failed["repeats"][0]["step_s"].size(), 20U);
  ASSERT_EQ(run_with_fault("throw@cached:2", {"--force", "--set", "measure.loader=both"}).exit_code, 125);
  EXPECT_EQ(record()["failure"]["step"], 2);
  EXPECT_EQ(record()["repeats"][0]["steps"], 20);
}

TEST_F(DataRun, InspectAsksTheWorkerForTensors) {
  const std::string python = FLOPMARK_SOURCE_DIR "/tests/unit/data/python/";
  const nlohmann::json tensors = nlohmann::json::parse(inspect(python + "dict.pt").out);
  EXPECT_EQ(tensors.at("samples"), 4);
  EXPECT_EQ(tensors.at("tensors").at(1).at("name"), "y");
  EXPECT_EQ(tensors.at("tensors").at(1).at("high"), 4);
  EXPECT_EQ(tensors.at("config").at("data").at("type"), "tensors");
  const nlohmann::json weights = nlohmann::json::parse(inspect(python + "state_dict.pt").out);
  EXPECT_TRUE(weights.at("data_type").is_null());
  EXPECT_THAT(weights.at("advice").get<std::string>(), HasSubstr("a state_dict"));
  write("evil.pt", zip_file({{"m/data.pkl", "cposix\nsystem\n."}}));
  EXPECT_THAT(inspect((folder_ / "evil.pt").string()).out, HasSubstr("something else than tensors"));
  EXPECT_THAT(inspect(FLOPMARK_SOURCE_DIR "/examples/mlp.pt").out, HasSubstr("TorchScript model, no data"));
  EXPECT_THAT(inspect(python + "legacy.pt").out, HasSubstr("Python pickle"));
}

#ifdef FLOPMARK_IMAGES
TEST_F(DataRun, AFolderOfPicturesTrainsAResnet) {
  for (int i = 0; i < 9; ++i) {
    const std::vector<uint8_t> pixel{static_cast<uint8_t>(i * 20), 100, static_cast<uint8_t>(255 - i * 20)};
    write(std::string(i % 2 == 0 ? "pictures/cat/" : "pictures/dog/") + std::to_string(i) + ".jpg",
          jpeg_file(plain_picture(50 + i, 40, pixel)));
  }
  const ProgramResult told = inspect((folder_ / "pictures").string());
  ASSERT_EQ(told.exit_code, 0) << told.err;
  nlohmann::json config = nlohmann::json::parse(told.out).at("config");
  config["data"]["image_size"] = 64;
  config["data"]["batch_size"] = 4;
  config["measure"] = measure();
  config["device"] = "cpu";
  const ProgramResult result = run_config(config);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(record()["data"]["samples"], 9);
  EXPECT_EQ(record()["data"]["format"], "folder of 2 classes");
  EXPECT_GT(record()["metrics"]["images_per_s"], 0);
  EXPECT_THAT(result.out, HasSubstr("1 of them dropped each epoch"));

  config["model"]["classes"] = 1;
  const ProgramResult classes = run_config(config, {"--force"});
  EXPECT_EQ(classes.exit_code, 200);
  EXPECT_THAT(classes.err, HasSubstr("has 2 classes, but model.classes is 1"));

  // Public case A27: batch norm over one value per channel; 9 = 2 x 4 + 1.
  config["model"]["classes"] = 2;
  config["data"]["image_size"] = 32;
  config["data"]["drop_last"] = false;
  const ProgramResult rest = run_config(config, {"--force"});
  EXPECT_EQ(rest.exit_code, 200);
  EXPECT_THAT(rest.err, HasSubstr("the last batch of an epoch has one image of 32 x 32"));

  config["data"]["image_size"] = 64;
  config["data"]["drop_last"] = true;
  write("pictures/cat/0.jpg", "no picture any more");
  const ProgramResult broken = run_config(config, {"--force"});
  EXPECT_EQ(broken.exit_code, 200);
  EXPECT_THAT(broken.err, AllOf(HasSubstr("cat/0.jpg"), HasSubstr("neither JPEG nor PNG")));
}
#endif

}  // namespace
}  // namespace flopmark::testing
