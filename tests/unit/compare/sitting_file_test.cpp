#include "compare/sitting_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "compare/calibration_file.h"
#include "compare/stored_comparison.h"
#include "compare/stored_tolerance.h"
#include "flopmark/error.h"
#include "stats/quantile.h"
#include "stats/random.h"
#include "unit/compare/compared_records.h"
#include "unit/results/scratch_tree.h"

namespace flopmark {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr const char* kKey = "0123456789abcdef";

/// The n-th of sittings that begin so many hours apart.
Sitting sitting(int n, double step_s = 0.2, const std::string& build = "aa", int hours = 4) {
  const int hour = n * hours;
  return {fmt::format("2026-01-{:02d}T{:02d}:00:00.000Z", 1 + hour / 24, hour % 24),
          kKey,
          build,
          {step_s, step_s, step_s}};
}

std::vector<Sitting> sittings(int count, int hours = 4) {
  std::vector<Sitting> all;
  for (int i = 0; i < count; ++i) all.push_back(sitting(i, 0.2 + 0.001 * (i % 2), "aa", hours));
  return all;
}

class SittingFile : public ::testing::Test {
 protected:
  Store store() const { return {tree_.root()}; }
  std::filesystem::path path() const { return sittings_path(store(), steady_record()); }
  ScratchTree tree_;
};

TEST_F(SittingFile, KeepsEverySittingByTimeWithTheSameBytes) {
  EXPECT_EQ(path().lexically_relative(tree_.root()),
            "baselines/1x-example-cpu/llama-tiny-cpu.sittings.jsonl");
  EXPECT_THAT(read_sittings(path()), IsEmpty());
  add_sittings(store(), path(), {sitting(2), sitting(1)});
  add_sittings(store(), path(), {sitting(0, 0.123456789)});
  const auto read = read_sittings(path());
  ASSERT_THAT(read, SizeIs(3));
  EXPECT_EQ(read[0].time, "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(read[0].step_s[1], 0.123457);
  EXPECT_EQ(read[2].build, "aa");
  const std::string bytes = file_text(path());
  add_sittings(store(), path(), {sitting(1)});
  EXPECT_EQ(file_text(path()), bytes);
}

TEST_F(SittingFile, WhatTwoPeopleAddMerges) {
  add_sittings(store(), path(), {sitting(0)});
  tree_.commit("first");
  ASSERT_TRUE(git(tree_.root(), "checkout -q -b other"));
  add_sittings(store(), path(), {sitting(1)});
  tree_.commit("of one");
  ASSERT_TRUE(git(tree_.root(), "checkout -q main"));
  add_sittings(store(), path(), {sitting(2)});
  tree_.commit("of another");
  ASSERT_TRUE(git(tree_.root(), "merge -q --no-edit other"));
  EXPECT_THAT(read_sittings(path()), SizeIs(3));
}

TEST_F(SittingFile, ABadLineIsNamed) {
  for (
      const char* line :
      {"{", "{}", R"({"time":"today","config":"k","build":"b","throughput_s":1,"typical_s":1,"floor_s":1})",
       R"({"time":"2026-01-01T00:00:00.000Z","config":"k","build":"b","throughput_s":0,"typical_s":1,"floor_s":1})"}) {
    add_sittings(store(), path(), {sitting(0)});
    std::ofstream(path(), std::ios::app) << line << "\n";
    try {
      read_sittings(path());
      ADD_FAILURE() << line;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::baseline);
      EXPECT_THAT(error.what(), HasSubstr("line 2 is no sitting"));
    }
    std::filesystem::remove(path());
  }
}

TEST(Sittings, OfARecordIsItsMedianLaunch) {
  const Sitting made = sitting_of(record_of({0.1, 0.4, 0.2}), "bb");
  EXPECT_NEAR(made.step_s[0], 0.2, 1e-12);
  EXPECT_EQ(made.build, "bb");
  EXPECT_EQ(made.config, calibration_key(record_of({0.1}).config));
}

TEST(Sittings, OtherConfigsSingleBuildsAndTheSameHourDoNotCount) {
  std::vector<Sitting> all = sittings(3);
  all.push_back(sitting(1, 0.3, "bb"));  // alone of its build
  all.push_back(sitting(2));
  all.back().config = "other";
  all.push_back(sitting(2));
  all.back().time = "2026-01-01T08:59:59.999Z";  // a part of the one at 8
  const auto counted = counted_sittings(all, kKey);
  ASSERT_THAT(counted, SizeIs(3));
  EXPECT_EQ(counted[2].time, "2026-01-01T08:00:00.000Z");
}

TEST(Sittings, EightOverADayMakeATolerance) {
  EXPECT_THAT(sitting_ratios({}), IsEmpty());
  EXPECT_THAT(sitting_ratios(sittings(7)), IsEmpty());
  EXPECT_THAT(sitting_ratios(sittings(8, 3)), IsEmpty()) << "within 21 hours";
  EXPECT_THAT(sitting_ratios(sittings(8)), SizeIs(3));
  std::vector<Sitting> two_builds = sittings(8);
  for (int i = 4; i < 8; ++i) two_builds[static_cast<size_t>(i)].build = "bb";
  EXPECT_THAT(sitting_ratios(two_builds), IsEmpty());
  two_builds.push_back(sitting(8, 0.2, "bb"));
  EXPECT_THAT(sitting_ratios(two_builds), SizeIs(3));
}

/// By hand: of three sittings at 1, 1 and 2 (the other six equal the first), log 2 both ways.
TEST(Sittings, RatiosAreOfEveryTwoOfOneBuildBothWays) {
  std::vector<Sitting> all = sittings(2);
  all[0].step_s = {0.1, 0.2, 0.3};
  all[1].step_s = {0.2, 0.2, 0.1};
  std::vector<Sitting> others;
  for (int i = 0; i < 7; ++i) others.push_back(sitting(i, 0.5, "bb"));  // a build of its own: equal times
  all.insert(all.end(), others.begin(), others.end());
  const auto ratios = sitting_ratios(all);
  ASSERT_THAT(ratios, SizeIs(3));
  EXPECT_THAT(ratios[0], SizeIs(2 + 7 * 6));
  std::vector<double> moved;
  for (const double ratio : ratios[0]) {
    if (ratio != 0) moved.push_back(ratio);
  }
  EXPECT_THAT(moved, UnorderedElementsAre(DoubleNear(std::log(2), 1e-12), DoubleNear(-std::log(2), 1e-12)));
  EXPECT_THAT(ratios[1], ::testing::Each(0));
}

/// Records of one build on a machine, a sitting each: offsets of sittings and of launches, log scale.
std::vector<RunRecord> measured_sittings(Random& random, size_t count, double sitting_sd, double launch_sd) {
  std::vector<RunRecord> records;
  for (size_t i = 0; i < count; ++i) {
    const double offset = sitting_sd * random.normal();
    std::vector<double> means_s;
    for (int launch = 0; launch < 10; ++launch) {
      means_s.push_back(0.2 * std::exp(offset + launch_sd * random.normal()));
    }
    records.push_back(record_of(means_s));
    records.back().time = sitting(static_cast<int>(i)).time;
  }
  return records;
}

/// Each record in turn judged by another one, with the tolerance of those that are left.
struct LeaveOneOut {
  int trials = 0, slower = 0, uncalibrated = 0;

  void add(const std::vector<RunRecord>& records, Random& random, double slowdown = 1) {
    for (size_t left = 0; left < records.size(); ++left) {
      std::vector<Sitting> rest;
      for (size_t i = 0; i < records.size(); ++i) {
        if (i != left) rest.push_back(sitting_of(records[i], "aa"));
      }
      RunRecord candidate = records[left];
      for (Repeat& repeat : candidate.repeats) {
        for (double& mean_s : repeat.block_means_s) mean_s *= slowdown;
        repeat.wall_s *= slowdown;
      }
      candidate.metrics.step_s->mean *= slowdown;
      for (const char* rate : {"samples_per_s", "tokens_per_s", "model_flop_per_s"}) {
        candidate.metrics.values[rate] = *candidate.metrics.values[rate] / slowdown;
      }
      const size_t baseline = (left + 1 + random.index(records.size() - 1)) % records.size();
      CompareOptions options;
      options.sittings = sitting_ratios(counted_sittings(rest, rest.front().config));
      const StoredComparison found = compare_records(records[baseline], candidate, options);
      ++trials;
      slower += found.verdict == Verdict::slower ? 1 : 0;
      uncalibrated += found.summaries.front().calibrated ? 0 : 1;
    }
  }
};

/// T9: at most one false alarm in a hundred.
TEST(Sittings, LeftOutOnesAreNotCalledSlower) {
  for (const auto& [sitting_sd, launch_sd] : {std::pair(0.01, 0.01), {0.05, 0.1}, {0.15, 0.05}, {0.0, 0.2}}) {
    Random random(9);
    LeaveOneOut found;
    for (int machine = 0; machine < 100; ++machine) {
      found.add(measured_sittings(random, 9, sitting_sd, launch_sd), random);
    }
    EXPECT_EQ(found.trials, 900);
    EXPECT_EQ(found.uncalibrated, 0);
    EXPECT_LE(found.slower, 9) << sitting_sd << " " << launch_sd;
  }
}

/// Why not the deviations of the sittings from their median: two sittings differ by a root of two more.
TEST(Sittings, DeviationsFromAMedianWouldAlarmTooOften) {
  Random random(9);
  size_t by_ratios = 0, by_deviations = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<Sitting> all;
    std::vector<double> deviations;
    for (int i = 0; i < 8; ++i) {
      deviations.push_back(random.normal() * 0.05);
      all.push_back(sitting(i, std::exp(deviations.back())));
    }
    const double shift = random.normal() * 0.05 - deviations.front();
    const double center = median(deviations);
    for (double& deviation : deviations) deviation -= center;
    const auto alarms = [&](const std::vector<double>& values) {
      return shift > stored_tolerance({{0}, {0}, values, false, {}}).slower;
    };
    by_ratios += alarms(sitting_ratios(all).front()) ? 1 : 0;
    by_deviations += alarms(deviations) ? 1 : 0;
  }
  EXPECT_LE(by_ratios, 10U);
  EXPECT_GE(by_deviations, 30U);
}

/// What uncalibrated takes 25 %.
TEST(Sittings, AQuietMachineFindsASlowdownOfTenPercent) {
  Random random(9);
  LeaveOneOut found;
  for (int machine = 0; machine < 20; ++machine) {
    found.add(measured_sittings(random, 9, 0.01, 0.01), random, 1.1);
  }
  EXPECT_GE(found.slower, found.trials * 95 / 100);
}

}  // namespace
}  // namespace flopmark
