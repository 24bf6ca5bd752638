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
