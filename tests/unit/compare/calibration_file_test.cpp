#include "compare/calibration_file.h"

#include <gmock/gmock.h>

#include "flopmark/error.h"
#include "unit/results/scratch_tree.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

CalibrationPair calibration_pair(int second, double ratio = 0.0123456789) {
  CalibrationPair pair;
  pair.time = "2026-01-02T03:04:" + std::string(second < 10 ? "0" : "") + std::to_string(second) + ".000Z";
  pair.config = "0123456789abcdef";
  pair.commit = std::string(40, 'a');
  pair.ratios = {ratio, -ratio, 1e-7};
  pair.a_first = second % 2 == 0;
  pair.step_s = 0.2;
  pair.others_cpu_ratio = 0.01;
  return pair;
}

class CalibrationFile : public ::testing::Test {
 protected:
  Store store() const { return {tree_.root()}; }
  std::filesystem::path path() const {
    Environment environment;
    environment.device_name = "Device X";
    return calibration_path(store(), "tiny", environment);
  }
  ScratchTree tree_;
};

TEST_F(CalibrationFile, KeepsEveryPairByTimeWithTheSameBytes) {
  EXPECT_THAT(read_calibration(path()), SizeIs(0));
  EXPECT_FALSE(has_calibration(store(), "tiny"));
  add_calibration(store(), path(), {calibration_pair(5), calibration_pair(3)});
  add_calibration(store(), path(), {calibration_pair(4, -0.5)});
  EXPECT_TRUE(has_calibration(store(), "tiny"));
  const auto pairs = read_calibration(path());
  ASSERT_THAT(pairs, SizeIs(3));
  EXPECT_EQ(pairs[1].time, calibration_pair(4).time);
  EXPECT_EQ(pairs[1].ratios.throughput, -0.5);
  EXPECT_EQ(pairs[1].a_first, true);
  EXPECT_FALSE(pairs[1].steal_ratio);
  EXPECT_EQ(pairs[0].ratios.throughput, 0.0123457);
  const std::string bytes = file_text(path());
  add_calibration(store(), path(), {calibration_pair(3)});  // as a merge may bring it
  EXPECT_EQ(file_text(path()), bytes);
  EXPECT_EQ(path().lexically_relative(tree_.root()), "baselines/1x-device-x/tiny.calibration.jsonl");
}

TEST_F(CalibrationFile, WhereFilesLieIsNoPartOfTheConfig) {
  const auto key_in = [](const std::string& folder, const char* file) {
    nlohmann::json config{{"model", nlohmann::json::object()}, {"data", nlohmann::json::object()}};
    config["data"]["paths"] = {folder + "x.npy", folder + file};
    for (const char* key : {"torchscript", "exported", "plugin"}) config["model"][key] = folder + file;
    return calibration_key(config);
  };
  EXPECT_EQ(key_in("/here/", "y.npy"), key_in("/there/", "y.npy"));
  EXPECT_NE(key_in("/here/", "y.npy"), key_in("/here/", "z.npy"));
}

TEST_F(CalibrationFile, OnlyPairsOfTheSameConfigCount) {
  RunConfig config;
  config.model.type = "mlp";
  config.model.layers = 2;
  config.name = "one";
  const std::string key = calibration_key(config);
  config.name = "two";
  config.data.path = "/here/corpus.bin";
  const std::string with_data = calibration_key(config);
  config.data.path = "/there/corpus.bin";
  EXPECT_EQ(calibration_key(config), with_data);
  config.data.path.clear();
  EXPECT_EQ(calibration_key(config), key);
  EXPECT_EQ(calibration_key(whole_json(config)), key);  // as a record has it
  config.measure.steps = 51;
  EXPECT_NE(calibration_key(config), key);
  std::vector<CalibrationPair> pairs{calibration_pair(1), calibration_pair(2, 0.5)};
  pairs[1].config = key;
  EXPECT_THAT(calibration_ratios(pairs, key), SizeIs(1));
  EXPECT_EQ(calibration_ratios(pairs, key)[0].throughput, 0.5);
}

/// Two people add pairs to one file; Git keeps both.
TEST_F(CalibrationFile, WhatTwoPeopleAddMerges) {
  add_calibration(store(), path(), {calibration_pair(1)});
  tree_.commit("first pairs");
  ASSERT_TRUE(git(tree_.root(), "checkout -q -b other"));
  add_calibration(store(), path(), {calibration_pair(2), calibration_pair(9)});
  tree_.commit("pairs of one");
  ASSERT_TRUE(git(tree_.root(), "checkout -q main"));
  add_calibration(store(), path(), {calibration_pair(5)});
  tree_.commit("pairs of another");
  ASSERT_TRUE(git(tree_.root(), "merge -q --no-edit other"));
  EXPECT_THAT(read_calibration(path()), SizeIs(4));
}

TEST_F(CalibrationFile, ABadLineIsNamed) {
  for (const char* line : {"{", "[]", "{}", "<<<<<<< ours", R"({"time":1})"}) {
    add_calibration(store(), path(), {calibration_pair(1)});
    std::ofstream(path(), std::ios::app) << line << "\n";
    try {
      read_calibration(path());
      ADD_FAILURE() << line;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::baseline);
      EXPECT_THAT(error.what(), HasSubstr("line 2 is no pair of a calibration"));
    }
    std::filesystem::remove(path());
  }
}

}  // namespace
}  // namespace flopmark
