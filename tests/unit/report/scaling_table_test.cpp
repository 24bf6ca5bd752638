#include "report/scaling_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/example_record.h"
#include "fakes/golden.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RunRecord record_of(int64_t ranks, double samples_per_s) {
  RunRecord record = example_cpu_record();
  record.environment.device_count = ranks;
  record.metrics.values["samples_per_s"] = samples_per_s;
  record.metrics.values["samples_per_s_per_device"] = samples_per_s / static_cast<double>(ranks);
  if (ranks > 1) record.metrics.values["communication_exposed_ratio"] = 0.02 * static_cast<double>(ranks);
  return record;
}

TEST(ScalingTable, EfficiencyIsOverTheFirstRow) {
  const auto rows = scaling_rows({record_of(1, 10), record_of(2, 18), record_of(4, 30)});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_DOUBLE_EQ(rows[0].efficiency_ratio.value(), 1.0);
  EXPECT_DOUBLE_EQ(rows[1].efficiency_ratio.value(), 0.9);
  EXPECT_DOUBLE_EQ(rows[2].efficiency_ratio.value(), 0.75);
  const auto from_two = scaling_rows({record_of(2, 18), record_of(4, 30)});
  EXPECT_DOUBLE_EQ(from_two[1].efficiency_ratio.value(), 30.0 / 36);
  EXPECT_EQ(from_two[0].ranks, 2);
  EXPECT_DOUBLE_EQ(from_two[0].samples_per_s_per_rank.value(), 9.0);
  EXPECT_DOUBLE_EQ(from_two[0].exposed_ratio.value(), 0.04);
}

TEST(ScalingTable, WithoutThroughputThereIsNoEfficiency) {
  RunRecord unknown = record_of(2, 18);
  unknown.metrics.values.clear();
  EXPECT_FALSE(scaling_rows({record_of(1, 10), unknown})[1].efficiency_ratio);
  EXPECT_FALSE(scaling_rows({unknown, record_of(4, 10)})[1].efficiency_ratio);
}

TEST(ScalingTable, Golden) {
  ::flopmark::testing::expect_golden(scaling_table({record_of(1, 10), record_of(2, 18), record_of(4, 30)}),
                                     "tests/unit/report/golden/scaling.txt");
}

TEST(ScalingTable, OnlyCpusShareTheirCores) {
  RunRecord gpu = record_of(1, 10);
  gpu.environment.cuda = "13.0";
  EXPECT_THAT(scaling_table({gpu, gpu}), Not(HasSubstr("share its cores")));
  EXPECT_THAT(scaling_table({record_of(1, 10), record_of(2, 11)}), HasSubstr("share its cores"));
}

}  // namespace
}  // namespace flopmark
