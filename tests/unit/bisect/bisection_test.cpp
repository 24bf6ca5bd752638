#include "bisect/bisection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fakes/bisect_history.h"

namespace flopmark {
namespace {

using testing::BisectHistory;
using testing::commit_hash;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::HistoryWorld;
using testing::normal_pairs;
using testing::plain_history;

constexpr double kQuiet = 0.005;

struct Ran {
  BisectionResult result;
  HistoryWorld world;
};

Ran bisected(const BisectHistory& history, double sd = kQuiet, const BisectPlan& plan = {}) {
  HistoryWorld world(history, normal_pairs(sd));
  Journal journal;
  BisectionResult result = run_bisection(history.range, plan, world, journal);
  return {std::move(result), std::move(world)};
}

size_t comparisons(const HistoryWorld& world, Comparison comparison) {
  return static_cast<size_t>(
      std::count_if(world.compared.begin(), world.compared.end(),
                    [&](const ComparisonRequest& request) { return request.comparison == comparison; }));
}

TEST(Bisection, FindsTheCommitAndConfirmsIt) {
  BisectHistory history = plain_history(64);
  add_step(history, 37, 0.05);
  const Ran ran = bisected(history);
  EXPECT_EQ(ran.result.outcome, BisectOutcome::confirmed) << ran.result.reason;
  EXPECT_EQ(exit_code(ran.result), ExitCode::ok);
  EXPECT_THAT(ran.result.candidates, ElementsAre(37));
  EXPECT_EQ(ran.result.parent, commit_hash(37));
  EXPECT_NEAR(ran.result.change->change_ratio, 0.05, 0.005);
  EXPECT_NEAR(ran.result.regression->change.change_ratio, 0.05, 0.005);
  EXPECT_NEAR(ran.result.regression->mid_ratio(), 0.0247, 0.003);
  EXPECT_EQ(ran.result.tested.size(), 6U);
  EXPECT_EQ(ran.world.built.size(), 8U);  // the ends and six between
  EXPECT_EQ(comparisons(ran.world, Comparison::ends), 1U);
  EXPECT_EQ(comparisons(ran.world, Comparison::ends_again), 0U);
  EXPECT_EQ(comparisons(ran.world, Comparison::confirmation), 1U);
  EXPECT_TRUE(ran.result.other_halves.empty());
  for (const TestedCommit& tested : ran.result.tested) {
    EXPECT_EQ(tested.state, tested.commit >= 37 ? CommitState::bad : CommitState::good);
    EXPECT_EQ(tested.evidence.size(), 1U);
  }
}

TEST(Bisection, EveryCommitIsJudgedAgainstGoodAndHalfOfTheRegression) {
  BisectHistory history = plain_history(8);
  add_step(history, 2, 0.10);
  const Ran ran = bisected(history);
  for (const ComparisonRequest& request : ran.world.compared) {
    if (request.comparison != Comparison::commit) continue;
    EXPECT_EQ(request.a, history.range.good);
    EXPECT_EQ(request.rule.mid_ratio, ran.result.regression->mid_ratio());
    EXPECT_EQ(request.rule.mid_level, 0.001);
    EXPECT_EQ(request.rule.gates.size(), 1U);
  }
  const ComparisonRequest& last = ran.world.compared.back();
  EXPECT_EQ(last.comparison, Comparison::confirmation);
  EXPECT_EQ(last.a, commit_hash(2));
  EXPECT_EQ(last.b, commit_hash(3));
  EXPECT_EQ(last.rule.mid_ratio, 0.0);
  EXPECT_EQ(last.rule.mid_level, 0.001 / 11);  // two attempts of five looks, and both together
}

TEST(Bisection, ARangeOfOneCommitIsConfirmedAtOnce) {
  BisectHistory history = plain_history(1);
  add_step(history, 0, 0.05);
  const Ran ran = bisected(history);
  EXPECT_EQ(ran.result.outcome, BisectOutcome::confirmed);
  EXPECT_EQ(ran.world.built.size(), 2U);
  EXPECT_TRUE(ran.result.tested.empty());
  EXPECT_EQ(ran.result.parent, history.range.good);
}

TEST(Bisection, EqualArtifactsAreNeverMeasuredTwice) {
  BisectHistory history = plain_history(16);
  add_step(history, 5, 0.05);
  for (size_t i = 0; i < 16; ++i) {
    if (i != 5) make_docs_only(history, i);
  }
  const Ran ran = bisected(history);
  EXPECT_EQ(ran.result.outcome, BisectOutcome::confirmed) << ran.result.reason;
  EXPECT_THAT(ran.result.candidates, ElementsAre(5));
  EXPECT_EQ(comparisons(ran.world, Comparison::commit), 0U);
  for (const TestedCommit& tested : ran.result.tested) {
    EXPECT_EQ(tested.same_as, tested.commit >= 5 ? history.range.bad : history.range.good);
    EXPECT_THAT(tested.reason, HasSubstr("the same bytes as"));
  }
}

TEST(Bisection, WhatDoesNotBuildOrRunIsSkipped) {
  BisectHistory history = plain_history(16);
  add_step(history, 9, 0.05);
  history.commits[7].builds = false;
  history.commits[11].crashes = true;
  const Ran ran = bisected(history);
  EXPECT_EQ(ran.result.outcome, BisectOutcome::confirmed) << ran.result.reason;
  EXPECT_THAT(ran.result.candidates, ElementsAre(9));
  EXPECT_EQ(ran.result.tested.front().commit, 7U);
  EXPECT_EQ(ran.result.tested.front().state, CommitState::skipped);
  EXPECT_EQ(ran.result.tested.front().reason, "does not build: `make` ended with 2");
}

TEST(Bisection, ACrashIsToldAndItsBytesAreNotTriedAgain) {
  BisectHistory history = plain_history(4);
  add_step(history, 3, 0.05);
  history.commits[1].crashes = true;
  make_docs_only(history, 2);
  const Ran ran = bisected(history);
  EXPECT_EQ(ran.result.outcome, BisectOutcome::range);
  EXPECT_THAT(ran.result.candidates, ElementsAre(1, 2, 3));
  EXPECT_EQ(ran.result.tested[0].reason, "the worker of 0000000000 failed in pair 1 (crash): signal 11");
  const auto copied = std::find_if(ran.result.tested.begin(), ran.result.tested.end(),
                                   [](const TestedCommit& tested) { return tested.commit == 2; });
  EXPECT_EQ(copied->same_as, commit_hash(2));
  EXPECT_EQ(copied->state, CommitState::skipped);
  EXPECT_TRUE(copied->evidence.empty());
}

TEST(Bisection, CandidatesNextToSkippedCommitsAreARange) {
  BisectHistory history = plain_history(8);
  add_step(history, 5, 0.05);
  history.commits[4].builds = history.commits[3].builds = false;
  const Ran ran = bisected(history);
  EXPECT_EQ(ran.result.outcome, BisectOutcome::range);
  EXPECT_EQ(exit_code(ran.result), ExitCode::cannot_judge);
  EXPECT_THAT(ran.result.candidates, ElementsAre(3, 4, 5));
  EXPECT_EQ(comparisons(ran.world, Comparison::confirmation), 0U);
  EXPECT_THAT(ran.result.reason, HasSubstr("one of 3"));
}

TEST(Bisection, StopsWhereTheEndsDoNotDiffer) {  // T11
  const BisectHistory history = plain_history(64);
  const Ran ran = bisected(history, 0.01);
  EXPECT_EQ(ran.result.outcome, BisectOutcome::not_reproduced);
  EXPECT_EQ(exit_code(ran.result), ExitCode::not_reproduced);
  EXPECT_EQ(ran.world.built.size(), 2U);
  EXPECT_TRUE(ran.result.tested.empty());
  EXPECT_GT(ran.result.smallest_traceable_ratio.value(), 0.01);
  EXPECT_THAT(ran.result.reason, HasSubstr("not slower than good by more than 1 %"));
  EXPECT_FALSE(ran.result.regression);
}

TEST(Bisection, StopsWhereTheMachineIsTooNoisyForTheDifference) {
  BisectHistory history = plain_history(64);
  add_step(history, 10, 0.02);
  const Ran ran = bisected(history, 0.08);
  EXPECT_EQ(ran.result.outcome, BisectOutcome::not_reproduced);
  EXPECT_THAT(ran.result.reason, HasSubstr("not shown to be slower"));
  EXPECT_GT(ran.result.smallest_traceable_ratio.value(), 0.05);
}

TEST(Bisection, ACloseCallIsMeasuredAgainBeforeItIsBelieved) {
  BisectHistory history = plain_history(8);
  add_step(history, 4, 0.05);
  size_t again = 0, believed = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    BisectPlan plan;
    plan.seed = seed;
    const Ran ran = bisected(history, 0.02, plan);
    again += comparisons(ran.world, Comparison::ends_again);
    believed += ran.result.outcome == BisectOutcome::confirmed ? 1 : 0;
    EXPECT_EQ(ran.result.ends.size(), 1 + comparisons(ran.world, Comparison::ends_again));
    EXPECT_TRUE(names_a_step(ran.result, history) || ran.result.outcome == BisectOutcome::not_reproduced);
  }
  EXPECT_GE(again, 10U);
  EXPECT_GE(believed, 18U);
}

TEST(Bisection, EndsThatCannotBeMeasuredStopIt) {
  BisectHistory history = plain_history(8);
  add_step(history, 4, 0.05);
  BisectHistory broken = history, crashing = history, equal = history;
  broken.commits.back().builds = false;
  const Ran not_built = bisected(broken);
  EXPECT_EQ(not_built.result.outcome, BisectOutcome::not_measured);
  EXPECT_THAT(not_built.result.reason, HasSubstr("0000000000 does not build: `make` ended with 2"));
  crashing.commits.back().crashes = true;
  const Ran crashed = bisected(crashing);
  EXPECT_EQ(crashed.result.outcome, BisectOutcome::not_measured);
  EXPECT_THAT(crashed.result.reason, HasSubstr("(crash): signal 11"));
  equal.commits.back().artifact = equal.at(equal.range.good).artifact;
  const Ran same = bisected(equal);
  EXPECT_EQ(same.result.outcome, BisectOutcome::not_reproduced);
  EXPECT_THAT(same.result.reason, HasSubstr("the same bytes"));
  EXPECT_TRUE(same.world.compared.empty());
}

/// A commit of a branch that left before good: slower than good, as what it comes from is.
TEST(Bisection, ACulpritNoSlowerThanItsParentIsUnconfirmed) {
  BisectHistory history = plain_history(3);
  add_step(history, 1, 0.05);
  BisectHistory gradual = plain_history(40);
  for (size_t i = 0; i < 40; ++i) add_step(gradual, i, 0.002);
  const Ran ran = bisected(gradual, 0.02);
  EXPECT_EQ(exit_code(ran.result), ExitCode::cannot_judge) << ran.result.reason;
  EXPECT_NE(ran.result.outcome, BisectOutcome::confirmed);
  // The culprit's own parent lies outside the range, and is as slow.
  history.range.commits[1].parents = {};
  history.range.commits[1].parent = commit_hash(3);
  history.commits[2].artifact = history.commits[1].artifact;
  const Ran beside = bisected(history);
  EXPECT_EQ(beside.result.outcome, BisectOutcome::unconfirmed);
  EXPECT_THAT(beside.result.candidates, ElementsAre(1));
  EXPECT_THAT(beside.result.reason, HasSubstr("came in elsewhere"));
}

TEST(Bisection, AParentThatDoesNotBuildLeavesItUnconfirmed) {
  BisectHistory history = plain_history(3);
  add_step(history, 2, 0.05);
  history.range.commits[2].parent = commit_hash(1);  // as of a merge, whose other parent was tested
  history.commits[0].builds = false;
  const Ran ran = bisected(history);
  EXPECT_EQ(ran.result.outcome, BisectOutcome::unconfirmed);
  EXPECT_THAT(ran.result.reason, HasSubstr("the parent of"));
}

TEST(Bisection, TwoStepsAreToldAndTheOtherHalfIsOffered) {
  BisectHistory history = plain_history(64);
  add_step(history, 20, 0.06);
  add_step(history, 44, 0.02);
  const Ran ran = bisected(history);
  EXPECT_EQ(ran.result.outcome, BisectOutcome::confirmed);
  EXPECT_THAT(ran.result.candidates, ElementsAre(20));
  ASSERT_EQ(ran.result.other_halves.size(), 1U);
  EXPECT_EQ(ran.result.other_halves[0].bad, history.range.bad);
  EXPECT_GE(ran.result.other_halves[0].good, commit_hash(21));
  EXPECT_LT(ran.result.other_halves[0].good, commit_hash(45));
}

TEST(Bisection, ASmallerFirstStepIsTheOtherHalf) {
  BisectHistory history = plain_history(64);
  add_step(history, 20, 0.02);
  add_step(history, 44, 0.06);
  const Ran ran = bisected(history);
  EXPECT_EQ(ran.result.outcome, BisectOutcome::confirmed);
  EXPECT_THAT(ran.result.candidates, ElementsAre(44));
  ASSERT_EQ(ran.result.other_halves.size(), 1U);
  EXPECT_EQ(ran.result.other_halves[0].good, history.range.good);
  EXPECT_GT(ran.result.other_halves[0].bad, commit_hash(20));
  EXPECT_LE(ran.result.other_halves[0].bad, commit_hash(44));
}

TEST(Bisection, HalfWayUpIsTheFirstOfTwoSteps) {
  BisectHistory history = plain_history(64);
  add_step(history, 20, 0.04);
  add_step(history, 44, 0.04);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    BisectPlan plan;
    plan.seed = seed;
    const Ran ran = bisected(history, kQuiet, plan);
    EXPECT_EQ(ran.result.outcome, BisectOutcome::confirmed) << ran.result.reason;
    EXPECT_TRUE(names_a_step(ran.result, history));
    EXPECT_EQ(ran.result.other_halves.size(), 1U);
  }
}

TEST(Bisection, UndecidedIsMeasuredOnceMoreAfterAPauseThenSkipped) {
  BisectHistory history = plain_history(3);
  add_step(history, 2, 0.05);
  const auto quiet = normal_pairs(kQuiet), wild = normal_pairs(0.3);
  HistoryWorld world(history, [&](const ComparisonRequest& request, size_t count, double change_ratio) {
    return (request.b == commit_hash(1) ? wild : quiet)(request, count, change_ratio);
  });
  BisectPlan plan;
  plan.pause_s = 1000;
  Journal journal;
  const BisectionResult result = run_bisection(history.range, plan, world, journal);
  const TestedCommit& first = result.tested.front();
  EXPECT_EQ(first.commit, 0U);
  EXPECT_EQ(first.state, CommitState::skipped) << first.reason;
  ASSERT_EQ(first.evidence.size(), 2U);
  EXPECT_EQ(first.evidence[0].pairs.size(), 64U);
  EXPECT_EQ(first.evidence[1].end, PairedEnd::cap);
  EXPECT_NE(first.evidence[0].pairs[0].floor, first.evidence[1].pairs[0].floor);
  EXPECT_THAT(first.reason, HasSubstr("after 128 pairs: not told from"));
  EXPECT_GE(world.clock_s, 1000);
  EXPECT_EQ(world.announced.back().activity, BisectProgress::Activity::comparing);
}

/// The first of these commits was good against half of both steps; against half of the first step it is not.
TEST(Bisection, WhatWasGoodIsJudgedAnewWhereASmallerStepIsLookedFor) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    BisectHistory history = plain_history(64);
    add_step(history, 25, 0.03);
    add_step(history, 60, 0.035);
    BisectPlan plan;
    plan.seed = seed;
    const Ran ran = bisected(history, 0.012, plan);
    EXPECT_EQ(ran.result.outcome, BisectOutcome::confirmed) << "seed " << seed << ": " << ran.result.reason;
    EXPECT_TRUE(names_a_step(ran.result, history)) << "seed " << seed;
  }
}

TEST(Bisection, AnotherDeviceStopsIt) {
  BisectHistory history = plain_history(8);
  add_step(history, 4, 0.05);
  HistoryWorld world(history, normal_pairs(kQuiet));
  world.comparable_no_more = {commit_hash(4)};
  Journal journal;
  const BisectionResult result = run_bisection(history.range, {}, world, journal);
  EXPECT_EQ(result.outcome, BisectOutcome::not_comparable);
  EXPECT_EQ(exit_code(result), ExitCode::not_comparable);
}

TEST(Bisection, TheBudgetEndsItWithWhatIsLeft) {
  BisectHistory history = plain_history(64);
  add_step(history, 37, 0.05);
  std::set<BisectOutcome> seen;
  size_t before = 64;
  for (double budget_s = 5; budget_s < 300; budget_s += 10) {
    BisectPlan plan;
    plan.budget_s = budget_s;
    const Ran ran = bisected(history, kQuiet, plan);
    seen.insert(ran.result.outcome);
    EXPECT_TRUE(names_a_step(ran.result, history));
    EXPECT_LE(ran.result.candidates.size(), before);
    before = ran.result.candidates.size();
    if (ran.result.outcome != BisectOutcome::confirmed) {
      EXPECT_THAT(ran.result.reason, HasSubstr("the time budget ended"));
      EXPECT_EQ(exit_code(ran.result), ExitCode::cannot_judge);
      EXPECT_LE(ran.world.clock_s, budget_s + 10);  // a build that has begun is not cut off
    }
  }
  EXPECT_THAT(seen, ElementsAre(BisectOutcome::confirmed, BisectOutcome::range, BisectOutcome::unconfirmed));
}

TEST(Bisection, SaysWhatIsLeftBeforeEachBuildAndComparison) {
  BisectHistory history = plain_history(64);
  add_step(history, 37, 0.05);
  const Ran ran = bisected(history);
  EXPECT_EQ(ran.world.announced.size(), ran.world.events);
  EXPECT_EQ(ran.world.announced.front().activity, BisectProgress::Activity::building);
  EXPECT_EQ(ran.world.announced.front().most_steps, 6U);
  EXPECT_FALSE(ran.world.announced.front().expected_left_s);
  const BisectProgress& fourth = ran.world.announced[3];  // ends built and compared in 12 s
  EXPECT_EQ(fourth.candidates, 64U);
  EXPECT_DOUBLE_EQ(fourth.expected_left_s.value(), 6 * 10 + 7 * 12);
  EXPECT_EQ(ran.world.announced.back().comparison, Comparison::confirmation);
  EXPECT_EQ(ran.world.announced.back().candidates, 1U);
}

TEST(Bisection, OtherErrorsEndItAsTheyAre) {
  class Refusing : public HistoryWorld {
   public:
    using HistoryWorld::HistoryWorld;
    CommitBuild build(const std::string&) override { throw usage_error("no such worker"); }
  };
  const BisectHistory history = plain_history(2);
  Refusing world(history, normal_pairs(kQuiet));
  Journal journal;
  EXPECT_THROW(run_bisection(history.range, {}, world, journal), Error);
}

}  // namespace
}  // namespace flopmark
