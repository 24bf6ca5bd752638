#include "compare/paired_session.h"

#include <gmock/gmock.h>

#include <csignal>

#include "fakes/fake_pairs.h"

namespace flopmark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

PairedPlan plan_for(FakePairs& source, std::vector<std::string> names = {"tiny"}, size_t most = 64) {
  PairedPlan plan;
  for (const std::string& name : names) {
    JudgeRule rule;
    rule.looks = looks_up_to(most);
    plan.workloads.push_back({name, rule});
  }
  plan.now_s = [&source] { return source.now_s; };
  return plan;
}

PairedResult run_one(FakePairs& source, const PairedPlan& plan) {
  return run_pairs(source, plan).front();
}

TEST(PairedSession, StopsAtTheFirstDecisiveLook) {
  const std::vector<std::tuple<double, Verdict, ExitCode>> cases{{0.05, Verdict::slower, ExitCode::slower},
                                                                 {0.001, Verdict::same, ExitCode::ok},
                                                                 {-0.05, Verdict::faster, ExitCode::ok}};
  for (const auto& [change, verdict, code] : cases) {
    FakePairs source(changed_by(change));
    const PairedResult result = run_one(source, plan_for(source));
    EXPECT_EQ(result.judgement.verdict, verdict) << change;
    EXPECT_EQ(result.end, PairedEnd::decided);
    EXPECT_EQ(exit_code(result), code);
    EXPECT_THAT(result.pairs, SizeIs(12));
    EXPECT_THAT(result.launches_b, SizeIs(12));
    EXPECT_NEAR(result.judgement.summaries[0].change_ratio, change, 0.002);
  }
}

TEST(PairedSession, UnsureAtTheCapTakesAllLooks) {
  FakePairs source(noisy(0.02, 0.2));
  const PairedResult result = run_one(source, plan_for(source));
  EXPECT_EQ(result.judgement.verdict, Verdict::unsure);
  EXPECT_EQ(result.end, PairedEnd::cap);
  EXPECT_EQ(exit_code(result), ExitCode::cannot_judge);
  EXPECT_THAT(result.pairs, SizeIs(64));
}

TEST(PairedSession, FewerPairsAreOneLook) {
  FakePairs source(changed_by(0.05));
  const PairedResult result = run_one(source, plan_for(source, {"tiny"}, 8));
  EXPECT_EQ(result.judgement.verdict, Verdict::slower);
  EXPECT_THAT(result.pairs, SizeIs(8));
  EXPECT_EQ(least_decisive_pairs(plan_for(source, {"tiny"}, 8).workloads[0].rule), 8u);
}

/// A pair takes 10 s: 15 of them fit, and the look at 12 decides what it can.
TEST(PairedSession, TheBudgetEndsWithTheLooksThatWereReached) {
  FakePairs source(noisy(0.02, 0.2));
  PairedPlan plan = plan_for(source);
  plan.budget_s = 155;
  std::vector<double> left_s;
  plan.pair_begins = [&](const PairedProgress& progress) {
    EXPECT_EQ(progress.most, 64u);
    if (progress.most_left_s) left_s.push_back(*progress.most_left_s);
  };
  const PairedResult result = run_one(source, plan);
  EXPECT_EQ(result.end, PairedEnd::budget);
  EXPECT_EQ(exit_code(result), ExitCode::cannot_judge);
  EXPECT_THAT(result.pairs, SizeIs(15));
  EXPECT_EQ(result.judgement.pairs, 12u);
  EXPECT_THAT(left_s, SizeIs(14));
  EXPECT_EQ(left_s.front(), 145);
  EXPECT_EQ(left_s.back(), 15);
}

TEST(PairedSession, ABudgetTooShortForTheFirstLookIsUnsure) {
  FakePairs source(changed_by(0.5));
  PairedPlan plan = plan_for(source);
  plan.budget_s = 30;
  const PairedResult result = run_one(source, plan);
  EXPECT_THAT(result.pairs, SizeIs(3));
  EXPECT_EQ(result.judgement.reason, "3 pairs are too few: the first look is at 12 (uncalibrated)");
}

TEST(PairedSession, WhoStartsFirstIsRandomAndBalancedInBlocksOfFour) {
  FakePairs source(noisy(0.02, 0.2));
  PairedPlan plan = plan_for(source);
  run_one(source, plan);
  std::string order, other_seed;
  for (size_t i = 0; i < source.requests.size(); ++i) order += source.requests[i].a_first ? 'a' : 'b';
  for (size_t i = 0; i < order.size(); i += 4) {
    EXPECT_EQ(std::count(order.begin() + static_cast<std::ptrdiff_t>(i),
                         order.begin() + static_cast<std::ptrdiff_t>(i + 4), 'a'),
              2);
  }
  EXPECT_NE(order.substr(0, 32), order.substr(32));
  plan.seed = 2;
  source.requests.clear();
  run_one(source, plan);
  for (const PairRequest& request : source.requests) other_seed += request.a_first ? 'a' : 'b';
  EXPECT_NE(order, other_seed);
}

TEST(PairedSession, SeveralConfigsGoOnUntilEachIsDecided) {
  const auto make = [](const PairRequest& request, size_t index) {
    if (request.workload == 0) return changed_by(0.05)(request, index);
    return changed_by(0, 0.08)(request, request.seed);  // to and fro in no order
  };
  FakePairs source(make);
  const auto results = run_pairs(source, plan_for(source, {"slow", "noisy"}));
  EXPECT_EQ(results[0].end, PairedEnd::decided);
  EXPECT_THAT(results[0].pairs, SizeIs(12));
  EXPECT_GT(results[1].pairs.size(), 12u);
  EXPECT_EQ(source.requests[0].workload, 0u);
  EXPECT_EQ(source.requests[1].workload, 1u);  // in turn
  EXPECT_EQ(exit_code(results), ExitCode::slower);
}

/// Ten configs share 5 %: what one alone would find at its look, ten together do not.
TEST(PairedSession, SeveralConfigsShareTheirAlpha) {
  // 8 of 8 pairs slower is p = 1/256, just enough for one look of two gates at 1 %.
  const auto make = [](const PairRequest& request, size_t index) {
    return changed_by(request.workload == 0 ? 0.05 : 0)(request, index);
  };
  const std::vector<std::string> ten{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  FakePairs source(make);
  const auto alone = run_pairs(source, plan_for(source, {"a"}, 8));
  EXPECT_EQ(alone[0].judgement.verdict, Verdict::slower);
  const auto together = run_pairs(source, plan_for(source, ten, 8));
  EXPECT_EQ(together[0].judgement.verdict, Verdict::unsure);
  EXPECT_EQ(least_decisive_pairs(plan_for(source, ten, 8).workloads[0].rule, ten.size()), 9u);
  EXPECT_EQ(run_pairs(source, plan_for(source, ten, 9))[0].judgement.verdict, Verdict::slower);
}

TEST(PairedSession, SeveralRanksAreWholeLaunchesFromTheFirstPairOn) {
  FakePairs source(changed_by(0.05));
  PairedPlan plan = plan_for(source);
  plan.workloads.front().has_ranks = true;
  const PairedResult result = run_one(source, plan);
  EXPECT_EQ(result.judgement.verdict, Verdict::slower);
  EXPECT_TRUE(result.has_ranks);
  EXPECT_EQ(result.whole_launches_why, std::nullopt);
  ASSERT_THAT(source.requests, SizeIs(12));
  for (size_t i = 0; i < source.requests.size(); i += 2) {  // ABBA or BAAB
    EXPECT_TRUE(source.requests[i].whole_launches);
    EXPECT_NE(source.requests[i].a_first, source.requests[i + 1].a_first);
  }
}

TEST(PairedSession, OutOfMemorySideBySideFallsBackToWholeLaunches) {
  const auto make = [](const PairRequest& request, size_t index) {
    LaunchPair pair = changed_by(0.05)(request, index);
    if (request.whole_launches) {
      pair.a.samples->turns.clear();
      pair.b.samples->turns.clear();
      return pair;
    }
    return LaunchPair{stopped_launch(), failed_launch("out_of_memory", "out of memory: 1 GiB asked for"), {}};
  };
  FakePairs source(make);
  const PairedResult result = run_one(source, plan_for(source));
  EXPECT_EQ(result.judgement.verdict, Verdict::slower);
  EXPECT_EQ(result.whole_launches_why, "out of memory: 1 GiB asked for");
  ASSERT_THAT(result.pairs, SizeIs(12));
  ASSERT_THAT(source.requests, SizeIs(13));
  for (size_t i = 1; i < source.requests.size(); i += 2) {  // ABBA or BAAB
    EXPECT_TRUE(source.requests[i].whole_launches);
    EXPECT_NE(source.requests[i].a_first, source.requests[i + 1].a_first);
  }
  EXPECT_EQ(result.pairs[0].turns, 0);
}

TEST(PairedSession, OutOfMemoryAloneIsAFailure) {
  FakePairs source([](const PairRequest& request, size_t) {
    if (!request.whole_launches)
      return LaunchPair{failed_launch("out_of_memory", "both"), stopped_launch(), {}};
    return LaunchPair{stopped_launch(), failed_launch("out_of_memory", "alone"), {}};
  });
  const PairedResult result = run_one(source, plan_for(source));
  EXPECT_EQ(result.end, PairedEnd::failed);
  EXPECT_EQ(result.failure->side, "b");
  EXPECT_EQ(result.failure->failure.text, "alone");
  EXPECT_EQ(exit_code(result), ExitCode::cannot_judge);
}

TEST(PairedSession, AFailureNamesSideAndPair) {
  FakePairs source([](const PairRequest& request, size_t index) {
    if (index < 2) return changed_by(0.05)(request, index);
    return LaunchPair{failed_launch("nan_loss", "loss is nan"), stopped_launch(), {}};
  });
  const PairedResult result = run_one(source, plan_for(source));
  EXPECT_EQ(result.end, PairedEnd::failed);
  EXPECT_EQ(result.failure->side, "a");
  EXPECT_EQ(result.failure->pair, 3u);
  EXPECT_EQ(result.failure->failure.kind, "nan_loss");
  EXPECT_EQ(exit_code(result), ExitCode::cannot_judge);
  EXPECT_THAT(result.pairs, SizeIs(2));
}

TEST(PairedSession, LaunchesWithoutStepTimesAreFailures) {
  FakePairs source([](const PairRequest& request, size_t index) {
    LaunchPair pair = changed_by(0)(request, index);
    pair.b.samples->timed.step_s = {0.2, 0};
    return pair;
  });
  const PairedResult result = run_one(source, plan_for(source));
  EXPECT_EQ(result.failure->side, "b");
  EXPECT_THAT(result.failure->failure.text, HasSubstr("no usable step times"));
}

TEST(PairedSession, OneConfigThatFailsDoesNotStopTheOthers) {
  FakePairs source([](const PairRequest& request, size_t index) {
    if (request.workload == 1) return LaunchPair{failed_launch("crash", "x"), stopped_launch(), {}};
    return changed_by(0)(request, index);
  });
  const auto results = run_pairs(source, plan_for(source, {"good", "bad"}));
  EXPECT_EQ(results[0].judgement.verdict, Verdict::same);
  EXPECT_EQ(results[1].end, PairedEnd::failed);
  EXPECT_EQ(results[1].judgement.reason, "no pair was measured");
  EXPECT_EQ(exit_code(results), ExitCode::cannot_judge);
}

TEST(PairedSession, AnInterruptionKeepsWhatWasMeasured) {
  FakePairs source([](const PairRequest& request, size_t index) {
    if (index < 13) return noisy(0.02, 0.2)(request, index);
    return LaunchPair{stopped_launch(SIGINT), stopped_launch(SIGINT), {}};
  });
  const PairedResult result = run_one(source, plan_for(source));
  EXPECT_EQ(result.end, PairedEnd::interrupted);
  EXPECT_EQ(exit_code(result), ExitCode::interrupted);
  EXPECT_THAT(result.pairs, SizeIs(13));
  EXPECT_EQ(result.judgement.pairs, 12u);
}

TEST(PairedSession, AnotherDeviceEndsAfterTheFirstPair) {
  FakePairs source(changed_by(0.05));
  PairedPlan plan = plan_for(source);
  plan.comparable = [](size_t, const LaunchSamples&, const LaunchSamples&) { return false; };
  const PairedResult result = run_one(source, plan);
  EXPECT_EQ(result.end, PairedEnd::not_comparable);
  EXPECT_EQ(exit_code(result), ExitCode::not_comparable);
  EXPECT_THAT(result.pairs, SizeIs(1));
}

/// Repeats are for causes seen outside the steps, and few: the third disturbed pair in a row stays in.
TEST(PairedSession, DisturbedPairsAreMeasuredAgainButNotForEver) {
  FakePairs source([](const PairRequest& request, size_t index) {
    LaunchPair pair = changed_by(0.05)(request, index);
    if (index == 4 || index == 7) pair.conditions.steal_ratio = 0.3;
    return pair;
  });
  const PairedResult result = run_one(source, plan_for(source));
  EXPECT_THAT(result.repeated, ElementsAre("the hypervisor took 30 % of the CPUs"));
  EXPECT_THAT(source.requests, SizeIs(13));
  EXPECT_EQ(source.requests[4].a_first, source.requests[5].a_first);
  EXPECT_EQ(result.disturbed_pairs(), 1u);
  EXPECT_EQ(exit_code(result), ExitCode::slower);
}

TEST(PairedSession, MostlyDisturbedAndUnsureIsInterference) {
  const auto disturbed = [](double change, double spread) {
    return FakePairs([=](const PairRequest& request, size_t index) {
      LaunchPair pair = noisy(change, spread)(request, index);
      pair.conditions.others_cpu_ratio = 0.6;
      return pair;
    });
  };
  FakePairs unsure = disturbed(0.02, 0.3), slower = disturbed(0.5, 0.01);
  EXPECT_EQ(exit_code(run_one(unsure, plan_for(unsure))), ExitCode::interference);
  EXPECT_EQ(exit_code(run_one(slower, plan_for(slower))), ExitCode::slower);
  FakePairs quiet(noisy(0.02, 0.3));
  EXPECT_EQ(exit_code(run_one(quiet, plan_for(quiet))), ExitCode::cannot_judge);
}

TEST(PairedSession, TwiceTheBatchInTwiceTheTimeIsTheSame) {
  const auto doubled = [](const PairRequest&, size_t) {
    LaunchPair pair{turned_launch(0.2), turned_launch(0.4), {}};
    pair.b.samples->timed.tokens *= 2;
    return pair;
  };
  FakePairs source(doubled);
  const PairedResult result = run_one(source, plan_for(source));
  EXPECT_EQ(result.judgement.verdict, Verdict::same);
  EXPECT_NEAR(result.judgement.summaries.front().change_ratio, 0, 1e-12);
  EXPECT_NEAR(result.pairs.front().b_s[0], 0.4, 1e-12);  // what a step took stays as it was
}

TEST(PairedSession, MidIsWhatTheChangeIsJudgedAgainst) {
  for (const auto& [change, verdict] : {std::pair{0.05, Verdict::slower}, std::pair{0.01, Verdict::same}}) {
    FakePairs source(changed_by(change));
    PairedPlan plan = plan_for(source);
    plan.workloads[0].rule.mid_ratio = 0.025;
    const PairedResult result = run_one(source, plan);
    EXPECT_EQ(result.judgement.verdict, verdict) << change;
    EXPECT_THAT(result.judgement.reason, HasSubstr("judged against a change of +2.5 %"));
  }
}

}  // namespace
}  // namespace flopmark
