#include "metrics/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_samples.h"
#include "fakes/rank_samples.h"
#include "metrics/metrics.h"

namespace flopmark {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;

/// 10 steps of 0.2 s, 8 samples each over both ranks.
LaunchSamples two_ranks(double step_s = 0.2) {
  return as_two_ranks(
      fake_samples({.steps = 10, .batch_size = 8, .sequence_length = 4, .step_s = step_s}, 10));
}

TEST(Ranks, AreSummedUpByHand) {
  const std::vector<RankSummary> ranks = summarize_ranks({two_ranks()});
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[0].rank, 0);
  EXPECT_EQ(ranks[1].rank, 1);
  EXPECT_EQ(ranks[1].host, "beta");
  EXPECT_EQ(ranks[1].device_name, "Fake CPU");
  EXPECT_DOUBLE_EQ(ranks[0].step_s, 0.2);
  EXPECT_DOUBLE_EQ(ranks[0].compute_s, 0.12);
  EXPECT_DOUBLE_EQ(ranks[1].communication_s, 0.04);
  EXPECT_DOUBLE_EQ(ranks[1].communication_exposed_s, 0.02);
  EXPECT_DOUBLE_EQ(ranks[0].samples_per_s.value(), 20.0) << "half of 8 samples in 0.2 s";
  EXPECT_EQ(ranks[1].memory_peak_bytes, 120 * 1024 * 1024);
}

TEST(Ranks, LaunchesWeighByTheirSteps) {
  LaunchSamples longer = two_ranks();
  longer.timed.steps = 30;
  longer.ranks[0].compute_s = 0.2;
  longer.ranks[0].memory_peak_bytes = 1;
  const auto ranks = summarize_ranks({two_ranks(), longer});
  EXPECT_DOUBLE_EQ(ranks[0].compute_s, (10 * 0.12 + 30 * 0.2) / 40);
  EXPECT_EQ(ranks[0].memory_peak_bytes, 100 * 1024 * 1024);
}

TEST(Ranks, OfOneRankThereIsNothing) {
  const LaunchSamples one = fake_samples({.steps = 3}, 3);
  EXPECT_TRUE(summarize_ranks({one}).empty());
  EXPECT_FALSE(summarize_communication({one}).has_value());
  EXPECT_FALSE(summarize_communication({}).has_value());
}

TEST(Ranks, TheSlowestIsTheOneThatComputesLongest) {
  std::vector<RankSummary> ranks(4);
  const double compute_s[] = {0.10, 0.30, 0.12, 0.20};
  for (size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].rank = static_cast<int64_t>(i);
    ranks[i].compute_s = compute_s[i];
  }
  const auto slowest = slowest_rank(ranks);
  ASSERT_TRUE(slowest);
  EXPECT_EQ(slowest->rank->rank, 1);
  EXPECT_DOUBLE_EQ(slowest->excess_ratio, 0.30 / 0.12 - 1) << "over the median of the others";
  EXPECT_FALSE(slowest_rank({ranks[0]}));
  EXPECT_FALSE(slowest_rank({}));
  for (RankSummary& rank : ranks) rank.compute_s = 0;
  EXPECT_FALSE(slowest_rank(ranks)) << "nothing was measured";
}

TEST(Ranks, TheSlowestOfEachLaunchIsCounted) {
  LaunchSamples other_way = two_ranks();
  std::swap(other_way.ranks[0].compute_s, other_way.ranks[1].compute_s);
  const std::vector<LaunchSamples> launches{two_ranks(), two_ranks(), other_way, two_ranks()};
  EXPECT_DOUBLE_EQ(slowest_share(launches, 1, 0.1), 0.75);
  EXPECT_DOUBLE_EQ(slowest_share(launches, 0, 0.1), 0.25);
  EXPECT_DOUBLE_EQ(slowest_share(launches, 1, 0.2), 0) << "it is 17 % slower";
  EXPECT_DOUBLE_EQ(slowest_share({}, 1, 0.1), 0);
}

TEST(Communication, IsTheMeanOfTheRanks) {
  const auto communication = summarize_communication({two_ranks()});
  ASSERT_TRUE(communication);
  EXPECT_EQ(communication->backend, "gloo");
  EXPECT_EQ(communication->collective, "all_reduce");
  EXPECT_EQ(communication->bytes_per_step, 4 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(communication->total_s, 0.05);
  EXPECT_DOUBLE_EQ(communication->exposed_s, 0.03);
  EXPECT_DOUBLE_EQ(communication->exposed_ratio.value(), 0.15);
  EXPECT_FALSE(communication->exposed_reason);
}

/// 4 MiB in the 0.04 s of the rank that waits for nobody, times 2 (2 - 1) / 2.
TEST(Communication, BusBandwidthHasTheFactorsOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor("all_reduce", 2), 1.0);
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor("all_reduce", 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor("reduce_scatter+all_gather", 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor("all_reduce", 1), 0.0);
  EXPECT_DOUBLE_EQ(summarize_communication({two_ranks()})->bus_bandwidth_bytes_per_s.value(),
                   4 * kMebibyte / 0.04);
  LaunchSamples sharded = two_ranks();
  sharded.communication->collective = "reduce_scatter+all_gather";
  EXPECT_DOUBLE_EQ(summarize_communication({sharded})->bus_bandwidth_bytes_per_s.value(),
                   4 * kMebibyte / 0.04 / 2);
  sharded.ranks[1].communication_s = 0;
  EXPECT_FALSE(summarize_communication({sharded})->bus_bandwidth_bytes_per_s);
}

TEST(Communication, WhatIsExposedIsOfTheLaunchesThatKnowIt) {
  LaunchSamples unknown = two_ranks();
  unknown.communication->exposed_ratio.reset();
  unknown.communication->exposed_reason = "no memory for a copy of the parameters";
  const auto none = summarize_communication({unknown, unknown});
  EXPECT_FALSE(none->exposed_ratio);
  EXPECT_EQ(none->exposed_reason, "no memory for a copy of the parameters");
  LaunchSamples more = two_ranks();
  more.communication->exposed_ratio = 0.25;
  const auto some = summarize_communication({two_ranks(), unknown, more});
  EXPECT_DOUBLE_EQ(some->exposed_ratio.value(), 0.2);
  EXPECT_FALSE(some->exposed_reason);
}

TEST(Communication, MetricsOfTwoRanks) {
  const Metrics metrics = compute_metrics({{two_ranks(), two_ranks()}, {}, 2});
  EXPECT_NEAR(metrics.values.at("communication_ratio").value(), 0.25, 1e-12);
  EXPECT_NEAR(metrics.values.at("communication_exposed_ratio").value(), 0.15, 1e-12);
  EXPECT_DOUBLE_EQ(metrics.values.at("samples_per_s").value(), 40.0);
  EXPECT_DOUBLE_EQ(metrics.values.at("samples_per_s_per_device").value(), 20.0);
  EXPECT_DOUBLE_EQ(metrics.values.at("host_peak_bytes").value(), 120 * kMebibyte) << "of the largest rank";
  EXPECT_EQ(metrics.values.at("memory_peak_allocated_bytes"), std::nullopt);
}

/// Rank 0 takes its 4 samples of a step in 0.16 s from a cached batch, and in 0.2 s from the loader.
TEST(Ranks, TheLoadersCostIsThatOfOneRank) {
  LaunchSamples launch = two_ranks();
  launch.cached = fake_samples({.steps = 10, .batch_size = 4, .step_s = 0.16}, 10).timed;
  const Metrics metrics = compute_metrics({{launch, launch}, {}, 2});
  EXPECT_DOUBLE_EQ(metrics.values.at("step_cached_s").value(), 0.16);
  EXPECT_DOUBLE_EQ(metrics.values.at("step_to_cached_ratio").value(), 1.25);
}

TEST(Communication, MemoryOfADeviceIsThatOfTheFullestRank) {
  LaunchSamples launch = two_ranks();
  launch.memory.allocated_bytes = 90 * 1024 * 1024;
  const Metrics metrics = compute_metrics({{launch}, {}, 2});
  EXPECT_DOUBLE_EQ(metrics.values.at("memory_peak_allocated_bytes").value(), 120 * kMebibyte);
  EXPECT_DOUBLE_EQ(metrics.values.at("host_peak_bytes").value(), 100 * kMebibyte) << "known of rank 0 only";
}

TEST(Communication, EnergyOfOneBoardIsNotThatOfTheJob) {
  LaunchSamples launch = two_ranks();
  launch.conditions = Conditions{};
  launch.conditions->device_energy_j = 10;
  EXPECT_EQ(compute_metrics({{launch}, {}, 2}).values.at("energy_per_step_j"), std::nullopt);
}

TEST(Communication, PhasesStillAddUpToTheStep) {
  const Phases phases = compute_phases({two_ranks()});
  EXPECT_DOUBLE_EQ(phases.communication_exposed_s, 0.02);
  EXPECT_DOUBLE_EQ(phases.backward_s, 0.08);
  EXPECT_DOUBLE_EQ(phases.data_s + phases.transfer_s + phases.forward_s + phases.backward_s +
                       phases.communication_exposed_s + phases.optimizer_s + phases.other_s,
                   0.2);
}

/// Public case A14: both ranks' FLOPs over both peaks, not over one.
TEST(Communication, MfuIsOverTheSumOfThePeaks) {
  LaunchSamples one = fake_samples({.steps = 10, .batch_size = 4}, 10);
  const LaunchSamples two = two_ranks();
  Peak peak;
  peak.flop_per_s = 1e9;
  const double of_one = compute_metrics({{one}, peak, 1}).values.at("mfu_ratio").value();
  EXPECT_DOUBLE_EQ(of_one, 44826624 / 0.2 / 1e9);
  const Metrics of_two = compute_metrics({{two}, peak, 2});
  EXPECT_DOUBLE_EQ(of_two.values.at("mfu_ratio").value(), 2 * 44826624 / (0.2 * 2e9));
  EXPECT_DOUBLE_EQ(of_two.values.at("model_flop_per_s").value(), 2 * 44826624 / 0.2);
}

}  // namespace
}  // namespace flopmark
