#include <gmock/gmock.h>

#include "bisect/bisection.h"
#include "fakes/bisect_history.h"

namespace flopmark {
namespace {

using testing::BisectHistory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::HistoryWorld;
using testing::normal_pairs;
using testing::plain_history;

constexpr double kCalmSpread = 0.005;

SideFailure late(const char* side) {
  return {side, 1, {"timeout", "timed", 3, "did not end within 60 s"}};
}

TEST(Bisection, AnEndThatTakesTooLongIsMeasuredOnceMore) {
  BisectHistory history = plain_history(8);
  add_step(history, 4, 0.05);
  for (const size_t times : {1U, 2U}) {
    HistoryWorld world(history, normal_pairs(kCalmSpread));
    size_t failed = 0;
    world.fails = [&](const ComparisonRequest&) {
      return failed++ < times ? std::optional(late("b")) : std::nullopt;
    };
    Journal journal;
    const BisectionResult result = run_bisection(history.range, {}, world, journal);
    EXPECT_EQ(result.outcome, times == 1 ? BisectOutcome::confirmed : BisectOutcome::not_measured);
    EXPECT_EQ(exit_code(result), times == 1 ? ExitCode::ok : ExitCode::cannot_judge);
    EXPECT_EQ(run_bisection(history.range, {}, world, journal).outcome, BisectOutcome::confirmed);  // resumed
  }
}

TEST(Bisection, AGoodBuildThatFailsNowIsNotTheCommitsFault) {
  BisectHistory history = plain_history(8);
  add_step(history, 4, 0.05);
  HistoryWorld world(history, normal_pairs(kCalmSpread));
  world.fails = [](const ComparisonRequest& request) {
    return request.comparison == Comparison::commit ? std::optional(late("a")) : std::nullopt;
  };
  Journal journal;
  const BisectionResult stopped = run_bisection(history.range, {}, world, journal);
  EXPECT_EQ(stopped.outcome, BisectOutcome::range);
  EXPECT_TRUE(stopped.tested.empty());
  EXPECT_THAT(stopped.reason, HasSubstr("(timeout): did not end within 60 s, with 8 candidates left"));
  world.fails = {};
  const BisectionResult resumed = run_bisection(history.range, {}, world, journal);
  EXPECT_EQ(resumed.outcome, BisectOutcome::confirmed);
  EXPECT_THAT(resumed.candidates, ElementsAre(4U));
}

/// A full disk, no descriptors left: a commit is skipped now, and tried again by the next run.
TEST(Bisection, ALaunchThatCannotBeHadIsNotOnRecord) {
  BisectHistory history = plain_history(8);
  add_step(history, 4, 0.05);
  HistoryWorld world(history, normal_pairs(kCalmSpread));
  world.fails = [](const ComparisonRequest& request) {
    const bool fails = request.comparison == Comparison::commit;
    return fails ? std::optional(SideFailure{"b", 1, {kNotStarted, "", std::nullopt, "no room"}})
                 : std::nullopt;
  };
  Journal journal;
  const BisectionResult stopped = run_bisection(history.range, {}, world, journal);
  EXPECT_EQ(stopped.outcome, BisectOutcome::range);
  EXPECT_EQ(stopped.tested.front().evidence.size(), 2U);
  world.fails = {};
  const BisectionResult resumed = run_bisection(history.range, {}, world, journal);
  EXPECT_EQ(resumed.outcome, BisectOutcome::confirmed);
  EXPECT_THAT(resumed.candidates, ElementsAre(4U));
}

TEST(Bisection, ARootCommitHasNoParentToBeComparedWith) {
  BisectHistory history = plain_history(2);
  add_step(history, 0, 0.05);
  history.range.commits[0].parent.clear();
  HistoryWorld world(history, normal_pairs(kCalmSpread));
  Journal journal;
  const BisectionResult result = run_bisection(history.range, {}, world, journal);
  EXPECT_EQ(result.outcome, BisectOutcome::unconfirmed);
  EXPECT_THAT(result.reason, HasSubstr("has no parent to compare it with"));
}

TEST(Bisection, NoBuildIsBegunThatTheBudgetHasNoTimeFor) {
  BisectHistory history = plain_history(64);
  add_step(history, 40, 0.05);
  HistoryWorld world(history, normal_pairs(kCalmSpread));
  BisectPlan plan;
  plan.budget_s = 50;  // two builds of 10 s, 12 pairs of 1 s, one more build, 12 pairs; 8 s are left
  Journal journal;
  const BisectionResult result = run_bisection(history.range, plan, world, journal);
  EXPECT_EQ(result.outcome, BisectOutcome::range);
  EXPECT_LE(world.clock_s, *plan.budget_s);
}

TEST(Bisection, ACommitThatTakesTooLongIsTriedOnceMoreThenSkipped) {
  BisectHistory history = plain_history(8);
  add_step(history, 4, 0.05);
  for (const bool ever : {false, true}) {
    HistoryWorld world(history, normal_pairs(kCalmSpread));
    world.fails = [&](const ComparisonRequest& request) {
      const bool late_now = request.comparison == Comparison::commit && (ever || request.attempt == 1);
      return late_now ? std::optional(late("b")) : std::nullopt;
    };
    Journal journal;
    const BisectionResult result = run_bisection(history.range, {}, world, journal);
    EXPECT_EQ(result.outcome, ever ? BisectOutcome::range : BisectOutcome::confirmed);
    EXPECT_EQ(result.tested.front().state == CommitState::skipped, ever);
    EXPECT_EQ(result.tested.front().evidence.size(), 2U);
  }
}

}  // namespace
}  // namespace flopmark
