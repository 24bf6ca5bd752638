#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CompareCommandTest : public CliTest {
 protected:
  /// A measured record, 0.2 s a step, as a file of the work folder.
  void SetUp() override {
    CliTest::SetUp();
    write(".gitignore",
          "/*.json\n!/tiny.json\n/.gitignore\n");  // records beside the config leave the tree clean
    const auto made = flopmark({"run", "tiny.json", "--quiet", "--output", "a.json"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    record_ = read_json("a.json");
  }
  /// Writes a copy whose steps take `factor` times as long, everywhere a record says so.
  void write_scaled(const std::string& name, double factor) const {
    json scaled = record_;
    for (auto& value : scaled["metrics"]["step_s"]) {
      if (value.is_number()) value = value.get<double>() * factor;
    }
    for (auto& [key, value] : scaled["metrics"].items()) {
      const bool is_rate =
          key.find("_per_s") != std::string::npos || key.starts_with("mfu") || key.starts_with("hfu");
      if (is_rate && value.is_number()) value = value.get<double>() / factor;
    }
    for (json& repeat : scaled["repeats"]) {
      repeat["wall_s"] = repeat["wall_s"].get<double>() * factor;
      for (const char* list : {"block_means_s", "step_s"}) {
        for (json& value : repeat[list]) value = value.get<double>() * factor;
      }
    }
    write(name, scaled.dump());
  }
  /// Writes a copy with the value at a JSON pointer replaced.
  void write_edited(const std::string& name, const std::string& pointer, const json& value) const {
    json edited = record_;
    edited[json::json_pointer(pointer)] = value;
    write(name, edited.dump());
  }
  json compared(const std::string& a, const std::string& b) const {
    const auto result = flopmark({"compare", a, b, "--format", "json"});
    return result.out.empty() ? json() : json::parse(result.out);
  }

  json record_;
};

TEST_F(CompareCommandTest, VerdictsHaveTheirExitCodes) {
  write_scaled("slow.json", 1.4);
  write_scaled("fast.json", 0.6);
  write_scaled("between.json", 1.15);
  const std::vector<std::tuple<std::string, std::string, int>> cases{{"a.json", "same", 0},
                                                                     {"fast.json", "faster", 0},
                                                                     {"slow.json", "slower", 1},
                                                                     {"between.json", "unsure", 125}};
  for (const auto& [file, verdict, code] : cases) {
    const auto result = flopmark({"compare", "a.json", file});
    EXPECT_EQ(result.exit_code, code) << file << result.err;
    EXPECT_THAT(result.out, HasSubstr("\n" + verdict + ": ")) << file;
    EXPECT_EQ(compared("a.json", file)["verdict"], verdict);
  }
}

TEST_F(CompareCommandTest, JsonHasWhatOthersRead) {
  write_scaled("slow.json", 1.4);
  const json comparison = compared("a.json", "slow.json");
  EXPECT_EQ(comparison["schema"], "flopmark.comparison/1");
  EXPECT_NEAR(comparison["change_ratio"].get<double>(), 0.4, 1e-9);
  EXPECT_TRUE(comparison.contains("ci95_low"));
  EXPECT_TRUE(comparison["unconfirmed"].get<bool>());
  EXPECT_EQ(comparison["confirm"],
            "flopmark ab tiny.json --a.worker OLD --b.worker NEW");  // no Git tree here
  EXPECT_THAT(flopmark({"compare", "a.json", "slow.json"}).out,
              HasSubstr("\nconfirm  flopmark ab tiny.json --a.worker OLD --b.worker NEW\n"));
  EXPECT_EQ(comparison["environment_differences"], json::array());
  EXPECT_EQ(comparison["metrics"]["samples_per_s"]["better"], "higher");
  EXPECT_EQ(comparison["metrics"]["samples_per_s"]["change"], "worse");
  EXPECT_EQ(comparison["metrics"]["step_s"]["better"], "lower");
  EXPECT_EQ(comparison["deterministic"]["model_flop"]["change"], "same");
  EXPECT_EQ(comparison["b"]["source"], "slow.json");
}

/// A36: one fact at a time.
TEST_F(CompareCommandTest, OtherMachinesAndModelsAreRefusedByName) {
  const std::vector<std::pair<std::string, json>> edits{{"/environment/device_name", "Other device"},
                                                        {"/environment/device_count", 4},
                                                        {"/environment/libtorch", "1.13.0"},
                                                        {"/config/train/precision", "bf16"},
                                                        {"/config/model/layers", 7},
                                                        {"/config/data/batch_size", 64},
                                                        {"/config/data/sequence_length", 48}};
  for (const auto& [pointer, value] : edits) {
    write_edited("other.json", pointer, value);
    std::string key = pointer.substr(1);
    std::replace(key.begin(), key.end(), '/', '.');
    const auto refused = flopmark({"compare", "a.json", "other.json"});
    EXPECT_EQ(refused.exit_code, 201) << pointer;
    EXPECT_THAT(refused.out, HasSubstr(key));
    EXPECT_THAT(refused.out, HasSubstr("not_comparable: not the same on both sides: " + key));
    const json comparison = compared("a.json", "other.json");
    EXPECT_EQ(comparison["verdict"], "not_comparable");
    EXPECT_TRUE(comparison["change_ratio"].is_null());
    EXPECT_EQ(comparison["environment_differences"][0]["key"], key);
    const auto allowed =
        flopmark({"compare", "a.json", "other.json", "--allow", key, "--allow", "config.modle"});
    EXPECT_EQ(allowed.exit_code, 0) << pointer;
    EXPECT_EQ(allowed.err, "flopmark: warning: --allow config.modle: nothing of that name differs\n");
  }
}

TEST_F(CompareCommandTest, StrictRefusesWhatMayMatter) {
  write_edited("other.json", "/environment/driver", "550.54");
  const auto listed = flopmark({"compare", "a.json", "other.json"});
  EXPECT_EQ(listed.exit_code, 0);
  EXPECT_THAT(listed.out, HasSubstr("environment.driver"));
  EXPECT_EQ(flopmark({"compare", "a.json", "other.json", "--strict"}).exit_code, 201);
}

/// A35: what measured nothing gives no verdict, and neither 0 nor 1.
TEST_F(CompareCommandTest, NothingMeasuredIsNeitherGoodNorBad) {
  write("empty.json", "");
  write("object.json", "{}");
  write("list.json", "[]");
  write("half.json", record_.dump().substr(0, 300));
  write_edited("no_steps.json", "/repeats/0/steps", 0);
  write_edited("no_launch.json", "/repeats", json::array());
  write_edited("null_times.json", "/repeats/1/block_means_s", nullptr);
  write_edited("negative.json", "/repeats/1/block_means_s/0", -0.2);
  write_edited("edited.json", "/metrics/step_s/mean", 0.05);
  for (const std::string file :
       {"missing.json", "empty.json", "object.json", "list.json", "half.json", "no_steps.json",
        "no_launch.json", "null_times.json", "negative.json", "edited.json"}) {
    for (const auto& [a, b] :
         {std::pair{file, std::string("a.json")}, std::pair{std::string("a.json"), file}}) {
      const auto result = flopmark({"compare", a, b, "--format", "json"});
      EXPECT_EQ(result.exit_code, 202) << file;
      EXPECT_EQ(result.out, "") << file;
      EXPECT_THAT(result.err, StartsWith("flopmark: error: " + file)) << file;
    }
  }
}

/// A42: a run whose loss became NaN is readable, and said not to be measured.
TEST_F(CompareCommandTest, ARunThatFailedIsNotMeasured) {
  flopmark({"run", "tiny.json", "--quiet", "--output", "failed.json"}, "oom");
  const auto result = flopmark({"compare", "a.json", "failed.json"});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.err,
              HasSubstr("failed.json: not measured: its run failed: out_of_memory in phase timed"));
  EXPECT_EQ(flopmark({"compare", "failed.json", "a.json"}).exit_code, 202);
  json lost = record_;
  lost["repeats"][0]["loss_last"] = nullptr;
  lost["metrics"]["mfu_ratio"] = nullptr;
  write("lost.json", lost.dump());
  EXPECT_EQ(flopmark({"compare", "a.json", "lost.json"}).exit_code, 0);
}

TEST_F(CompareCommandTest, BaselinesAreNamedByNameAndByCommit) {
  make_repository();
  flopmark({"run", "tiny.json", "--quiet", "--output", "results/r.json"});
  ASSERT_EQ(flopmark({"baseline", "save", "results/r.json"}).exit_code, 0);
  git({"add", "baselines"});
  git({"commit", "-q", "-m", "baseline"});
  ASSERT_EQ(baselines().size(), 1u);
  const std::string path = baselines().front().lexically_relative(work_).string();

  EXPECT_EQ(flopmark({"compare", "tiny", "results/r.json"}).exit_code, 0);
  EXPECT_EQ(flopmark({"compare", "HEAD:tiny", "results/r.json"}).exit_code, 0);
  EXPECT_EQ(flopmark({"compare", "main:" + path, "tiny"}).exit_code, 0);
  EXPECT_EQ(flopmark({"baseline", "diff", "tiny"}).exit_code, 0);

  record_ = read_json(path);
  write_scaled(path, 1.5);
  const auto diff = flopmark({"baseline", "diff", "tiny"});
  EXPECT_EQ(diff.exit_code, 1) << diff.err;
  EXPECT_THAT(diff.out, HasSubstr("A  HEAD:" + path));
  EXPECT_EQ(flopmark({"baseline", "diff", path, "--from", "main"}).exit_code, 1);

  for (const std::string operand :
       {"HEAD:other", "nowhere:tiny", "HEAD:baselines/x.json", "HEAD~1:tiny", "other"}) {
    const auto result = flopmark({"compare", operand, "tiny"});
    EXPECT_EQ(result.exit_code, 202) << operand;
    EXPECT_NE(result.err, "") << operand;
  }
  EXPECT_THAT(flopmark({"compare", "nowhere:tiny", "tiny"}).err,
              HasSubstr("nowhere: no such commit, branch or tag in this repository"));
}

/// A37: what compare says is no saving; the baseline stays as it was.
TEST_F(CompareCommandTest, ComparingChangesNothing) {
  make_repository();
  flopmark({"run", "tiny.json", "--quiet", "--output", "results/r.json"});
  flopmark({"baseline", "save", "results/r.json"});
  const auto files_before = baselines();
  const std::string before = read(files_before.front());
  write_scaled("slow.json", 1.4);
  EXPECT_EQ(flopmark({"compare", "tiny", "slow.json"}).exit_code, 1);
  EXPECT_EQ(read(files_before.front()), before);
  EXPECT_EQ(baselines(), files_before);
}

TEST_F(CompareCommandTest, MarkdownIsATable) {
  write_scaled("slow.json", 1.4);
  const auto result = flopmark({"compare", "a.json", "slow.json", "--format", "markdown"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, StartsWith("**slower**: "));
  EXPECT_THAT(result.out, HasSubstr("| Step time, mean | "));
}

}  // namespace
}  // namespace flopmark
