#include <gmock/gmock.h>

#include "fakes/example_record.h"
#include "flopmark/error.h"
#include "results/baseline_store.h"
#include "results/record_file.h"
#include "results/record_lookup.h"
#include "unit/results/scratch_tree.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kRolling = "baselines/8x-nvidia-h200/llama-1b-h200.json";
constexpr const char* kAnchor = "baselines/8x-nvidia-h200/llama-1b-h200.anchor.json";

/// A record that differs from the first by its mean step time.
RunRecord newer(double mean_s) {
  RunRecord record = example_record();
  record.metrics.step_s->mean = mean_s;
  return record;
}

double mean_in(const ScratchTree& tree, const char* file) {
  return read_record(tree.root() / file).metrics.step_s->mean;
}

/// The first baseline, committed.
class BaselineAnchor : public testing::Test {
 protected:
  BaselineAnchor() {
    save_baseline(store_, newer(0.25), {});
    tree_.commit("first baseline");
  }
  ExitCode refusal(const RunRecord& record, const SaveOptions& options) const {
    try {
      save_baseline(store_, record, options);
    } catch (const Error& error) {
      return error.code();
    }
    return ExitCode::ok;
  }

  const ScratchTree tree_;
  const Store store_{tree_.root()};
  const SaveOptions moving_{.reason = "dropout is on now", .role = BaselineRole::anchor};
};

TEST_F(BaselineAnchor, TheFirstOneThatIsReplacedBecomesIt) {
  EXPECT_FALSE(fs::exists(tree_.root() / kAnchor)) << "one file until it moves on";
  const std::string first = file_text(tree_.root() / kRolling);
  const SavedBaseline saved = save_baseline(store_, newer(0.24), {});
  EXPECT_EQ(saved.anchor, tree_.root() / kAnchor);
  EXPECT_EQ(file_text(tree_.root() / kAnchor), first);
  EXPECT_EQ(mean_in(tree_, kRolling), 0.24);
}

TEST_F(BaselineAnchor, StaysWhereItIsHoweverOftenTheOtherMoves) {
  for (const double mean_s : {0.24, 0.23, 0.22}) {
    save_baseline(store_, newer(mean_s), {});
    tree_.commit("again");
  }
  EXPECT_EQ(mean_in(tree_, kAnchor), 0.25);
  EXPECT_EQ(mean_in(tree_, kRolling), 0.22);
  EXPECT_FALSE(save_baseline(store_, newer(0.21), {}).anchor.has_value());
}

TEST_F(BaselineAnchor, SavingTheSameAgainMakesNone) {
  EXPECT_FALSE(save_baseline(store_, newer(0.25), {}).anchor.has_value());
}

TEST_F(BaselineAnchor, WhatWasNeverCommittedOrIsDamagedIsNone) {
  save_baseline(store_, newer(0.24), {.reason = "", .keeps_replaced = false});
  EXPECT_FALSE(save_baseline(store_, newer(0.23), {.force = true, .reason = "once more"}).anchor.has_value());
  tree_.write(kRolling, "{");
  tree_.commit("damaged");
  EXPECT_FALSE(save_baseline(store_, newer(0.22), {}).anchor.has_value());
  EXPECT_FALSE(fs::exists(tree_.root() / kAnchor));
}

TEST_F(BaselineAnchor, MovesByHandWithAReasonOnly) {
  EXPECT_EQ(refusal(newer(0.3), {.reason = "", .role = BaselineRole::anchor}), ExitCode::usage);
  EXPECT_EQ(refusal(newer(0.3), {.reason = " \n", .role = BaselineRole::anchor}), ExitCode::usage);
  const SavedBaseline saved = save_baseline(store_, newer(0.3), moving_);
  EXPECT_EQ(saved.path, tree_.root() / kAnchor);
  EXPECT_EQ(mean_in(tree_, kAnchor), 0.3);
  EXPECT_EQ(mean_in(tree_, kRolling), 0.25) << "the other stays";
  EXPECT_EQ(read_record(saved.path).anchor_reason, "dropout is on now");
  EXPECT_THAT(file_text(saved.path), HasSubstr("\"anchor\": {\n    \"reason\": \"dropout is on now\"\n"));
  EXPECT_EQ(refusal(newer(0.31), moving_), ExitCode::baseline) << "uncommitted";
  tree_.commit("anchor moved");
  EXPECT_EQ(refusal(newer(0.31), moving_), ExitCode::ok);
}

TEST_F(BaselineAnchor, TheReasonDoesNotFollowIntoTheRollingOne) {
  const fs::path anchor = save_baseline(store_, newer(0.3), moving_).path;
  save_baseline(store_, read_record(anchor), {});
  EXPECT_FALSE(read_record(tree_.root() / kRolling).anchor_reason.has_value());
}

TEST_F(BaselineAnchor, NeedsABaselineBesideIt) {
  RunRecord other = newer(0.3);
  other.name = "other";
  EXPECT_EQ(refusal(other, moving_), ExitCode::baseline);
  EXPECT_FALSE(fs::exists(tree_.root() / "baselines/8x-nvidia-h200/other.anchor.json"));
}

TEST_F(BaselineAnchor, IsListedMarkedAndFoundByName) {
  save_baseline(store_, newer(0.3), moving_);
  std::vector<std::string> problems, paths;
  const auto baselines = list_baselines(store_, problems);
  for (const auto& baseline : baselines) paths.push_back(baseline.path.generic_string());
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_THAT(paths, ElementsAre(kAnchor, kRolling));
  EXPECT_THAT(baselines_table(baselines), HasSubstr("0123456789ab (anchor: dropout is on now) |"));
  EXPECT_EQ(find_record("llama-1b-h200", store_).record.metrics.step_s->mean, 0.25);
  EXPECT_EQ(find_record("llama-1b-h200.anchor", store_).record.metrics.step_s->mean, 0.3);
  tree_.commit("anchor");
  EXPECT_EQ(find_record("HEAD:llama-1b-h200", store_).record.metrics.step_s->mean, 0.25);
  EXPECT_EQ(find_record("HEAD:llama-1b-h200.anchor", store_).record.metrics.step_s->mean, 0.3);
}

TEST_F(BaselineAnchor, NoConfigMayHaveItsName) {
  RunRecord record = newer(0.25);
  record.name = "llama-1b-h200.anchor";
  EXPECT_EQ(refusal(record, {}), ExitCode::baseline);
}

/// Both sides replace the same first baseline: its anchor is the same file on both.
TEST_F(BaselineAnchor, OfTwoBranchesMergesWhereTheBaselineItselfConflicts) {
  ASSERT_TRUE(git(tree_.root(), "checkout -q -b theirs"));
  save_baseline(store_, newer(0.24), {});
  tree_.commit("their run");
  ASSERT_TRUE(git(tree_.root(), "checkout -q main"));
  save_baseline(store_, newer(0.23), {});
  tree_.commit("my run");
  EXPECT_FALSE(git(tree_.root(), "merge -q --no-edit theirs")) << "two truths about one baseline";
  EXPECT_EQ(mean_in(tree_, kAnchor), 0.25);
  std::vector<std::string> problems;
  list_baselines(store_, problems);
  EXPECT_THAT(problems, ElementsAre(HasSubstr("merged with conflicts?")));
}

}  // namespace
}  // namespace flopmark
