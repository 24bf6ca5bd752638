#include <gmock/gmock.h>

#include "integration/tiny_run.h"

namespace flopmark::testing {
namespace {

using ::testing::HasSubstr;

/// Real workers side by side. The machine may be busy, so only what no noise can turn is asked for.
class AbTest : public TinyRun {
 protected:
  ProgramResult ab(const std::vector<std::string>& more) const {
    ProgramOptions options = command({});
    options.arguments = {
        "ab",  (folder_ / "tiny.json").string(), "--quiet", "--max-pairs", "8", "--seed", "1", "--format",
        "json"};
    options.arguments.insert(options.arguments.end(), more.begin(), more.end());
    return run_program(FLOPMARK_PROGRAM, options);
  }
};

/// 16 times the feed-forward part is a few times the step, whatever else runs here.
TEST_F(AbTest, MoreWorkIsSlowerAndNamed) {
  const ProgramResult result = ab({"--set", "measure.steps=10", "--b.set", "model.ffn_size=2816"});
  ASSERT_EQ(result.exit_code, 1) << result.err << result.out;
  const auto whole = nlohmann::json::parse(result.out);
  EXPECT_EQ(whole["verdict"], "slower");
  EXPECT_GT(whole["ci95_low"].get<double>(), 0.3);
  EXPECT_EQ(whole["pairs"].size(), 8u);
  EXPECT_GT(whole["pairs"][0]["turns"].get<int>(), 0);
  EXPECT_EQ(whole["deterministic"]["model_flop"]["change"], "differs");
  EXPECT_EQ(whole["environment_differences"][0]["key"], "config.model.ffn_size");
  EXPECT_FALSE(whole["operators"].empty());
  EXPECT_TRUE(whole["phases"]["backward"]["changed"].get<bool>());
}

TEST_F(AbTest, OneBuildDoesTheSameWorkOnBothSides) {
  const ProgramResult result = ab({"--set", "measure.steps=10", "--budget", "20s"});
  const auto whole = nlohmann::json::parse(result.out);
  EXPECT_NE(whole["verdict"], "not_comparable") << result.out;
  EXPECT_EQ(whole["deterministic"]["model_flop"]["change"], "same");
  EXPECT_EQ(whole["deterministic"]["parameters"]["change"], "same");
  EXPECT_TRUE(whole["operators"].empty());
  EXPECT_TRUE(whole["environment_differences"].empty()) << whole["environment_differences"];
  EXPECT_THAT(whole["notes"].dump(), HasSubstr("A and B are the same"));
}

TEST_F(AbTest, ASideThatFailsIsNamed) {
  ProgramOptions options = command({});
  options.arguments = {
      "ab",      (folder_ / "tiny.json").string(), "--quiet", "--b.worker", FLOPMARK_FAULTY_WORKER,
      "--b.env", "FLOPMARK_FAULT=nan@timed:3"};
  const ProgramResult result = run_program(FLOPMARK_PROGRAM, options);
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_THAT(result.out, HasSubstr("unsure: side b failed in pair 1: nan_loss"));
}

}  // namespace
}  // namespace flopmark::testing
