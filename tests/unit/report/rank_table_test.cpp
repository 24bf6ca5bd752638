#include "report/rank_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fakes/example_record.h"
#include "fakes/golden.h"
#include "report/summary.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// The tiny LLaMA on two CPU ranks of two hosts.
RunRecord two_rank_record() {
  RunRecord record = example_cpu_record();
  record.environment.device_count = 2;
  record.ranks = {{0, "alpha", "Example CPU", std::nullopt, 0.2, 0.12, 0.06, 0.04, 5.0, 536870912},
                  {1, "beta", "Example CPU", std::nullopt, 0.2, 0.14, 0.04, 0.02, 5.0, 534773760}};
  record.communication = CommunicationSummary{"gloo", "all_reduce", 501000, 0.05, 0.03, 12525000.0, 0.12, {}};
  record.metrics.values["samples_per_s_per_device"] = 5.0;
  record.metrics.values["communication_ratio"] = 0.25;
  record.metrics.values["communication_exposed_ratio"] = 0.12;
  record.phases->backward_s = 0.1;
  record.phases->communication_exposed_s = 0.02;
  return record;
}

TEST(RankTable, OfOneRankThereIsNone) {
  EXPECT_THAT(rank_table(example_cpu_record()), IsEmpty());
}

TEST(RankTable, GoldenSummaryOfTwoRanks) {
  ::flopmark::testing::expect_golden(summarize(two_rank_record(), {}),
                                     "tests/unit/report/golden/summary_ranks.txt");
}

TEST(RankTable, NamesTheSlowestByItsComputeTime) {
  EXPECT_THAT(
      rank_table(two_rank_record()),
      HasSubstr("slowest  rank 1 on beta computes for 140.0 ms of a step outside the exchange, 16.7 %"));
}

TEST(RankTable, SaysWhereMoreIsLostThanIsSpentInCollectives) {
  RunRecord record = two_rank_record();
  EXPECT_THAT(rank_table(record), Not(HasSubstr("\nexposed  ")));
  record.communication->exposed_ratio = 0.4;
  EXPECT_THAT(rank_table(record),
              HasSubstr("\nexposed  40.0 % of a step, though only 25.0 % are inside collectives: "));
  record.communication->exposed_ratio = 0.25001;
  EXPECT_THAT(rank_table(record), Not(HasSubstr("\nexposed  "))) << "25.0 %, too";
  record.communication->exposed_ratio.reset();
  EXPECT_THAT(rank_table(record), Not(HasSubstr("\nexposed  ")));
}

TEST(RankTable, ShowsDevicesWhereTheyDiffer) {
  RunRecord record = two_rank_record();
  EXPECT_THAT(rank_table(record), Not(HasSubstr("devices")));
  record.ranks[1].device_name = "Other CPU";
  const std::string text = rank_table(record);
  EXPECT_THAT(text, HasSubstr("\ndevices  Example CPU (rank 0); Other CPU (rank 1)\n"));
}

TEST(RankTable, OfManyRanksThoseThatComputeLongest) {
  RunRecord record = two_rank_record();
  record.ranks.assign(64, record.ranks[0]);
  for (size_t i = 0; i < 64; ++i) {
    record.ranks[i].rank = static_cast<int64_t>(i);
    record.ranks[i].compute_s = 0.1 + 0.001 * static_cast<double>(i);
  }
  const std::string text = rank_table(record);
  EXPECT_THAT(text, HasSubstr("the 16 of 64 ranks that compute longest"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 1 + 16 + 2 + 2);
  EXPECT_THAT(text, HasSubstr("\n  63  alpha"));
  EXPECT_THAT(text, Not(HasSubstr("\n  47  alpha")));
}

TEST(RankTable, LongAndHostileNamesFit) {
  RunRecord record = two_rank_record();
  record.ranks[0].host = std::string(300, 'h');
  record.ranks[1].host = "evil\x1b[31m\nhost";
  record.ranks[1].device_name = std::string(300, 'd');
  record.communication->backend = "b\x1b[2J";
  const std::string text = rank_table(record);
  EXPECT_LE(::flopmark::testing::widest_line(text), 100U);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(FailureText, NamesTheRankOnce) {
  EXPECT_EQ(failure_text({"killed", "timed", 7, "signal 9", 1, "beta"}),
            "killed: rank 1 on beta: signal 9 (in phase timed, step 7)");
  EXPECT_EQ(failure_text({"peer_lost", "timed", 7, "no word from rank 1 (host beta)", 1, "beta"}),
            "peer_lost: no word from rank 1 (host beta) (in phase timed, step 7)");
  EXPECT_EQ(failure_text({"killed", "load", std::nullopt, "rank 10 said nothing", 1, std::nullopt}),
            "killed: rank 1: rank 10 said nothing (in phase load)");
}

}  // namespace
}  // namespace flopmark
