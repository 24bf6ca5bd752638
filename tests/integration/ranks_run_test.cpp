// Several ranks of one machine, started by flopmark itself; what goes wrong with one of them ends the job in
// time, names it and leaves no process.
#include "integration/ranks_run.h"

#include <random>

namespace flopmark::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// Beyond parallel.timeout_s: to load, to learn who it was, and the machine's other work.
constexpr std::chrono::seconds kSpareTime{40};

TEST_F(RanksRun, TwoAndFourRanksMeasure) {
  for (const int ranks : {2, 4}) {
    const ProgramResult result = run_program(FLOPMARK_PROGRAM, job(ranks, {"--force"}));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const nlohmann::json record = this->record();
    EXPECT_EQ(record["status"], "ok");
    EXPECT_EQ(record["environment"]["device_count"], ranks);
    ASSERT_EQ(record["ranks"].size(), ranks);
    EXPECT_EQ(record["ranks"][1]["rank"], 1);
    EXPECT_EQ(record["repeats"][0]["samples"], 20 * 2 * ranks);
    EXPECT_EQ(record["communication"]["backend"], "gloo");
    EXPECT_GT(record["communication"]["total_s"], 0);
    double sum_s = 0;
    for (const auto& [name, value] : record["phases"].items()) {
      if (name != "data_wait_host_s") sum_s += value.get<double>();
    }
    const double mean_s = record["metrics"]["step_s"]["mean"];
    EXPECT_NEAR(sum_s, mean_s, 0.02 * mean_s);
  }
}

TEST_F(RanksRun, OneThatIsSlowIsNamed) {
  const ProgramResult result = run_program(
      FLOPMARK_PROGRAM,
      job(2, with_fault({"--set", "measure.warmup_max_steps=10", "--set", "measure.steps=5"}),
          {{"FLOPMARK_FAULT", "sleep@timed:1"}, {"FLOPMARK_FAULT_RANK", "1"}, {"FLOPMARK_FAULT_MS", "200"}}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json record = this->record();
  const double others_s = record["ranks"][0]["compute_s"], its_s = record["ranks"][1]["compute_s"];
  EXPECT_GT(its_s, others_s + 0.15);
  EXPECT_GE(record["metrics"]["step_s"]["median"], 0.2);
  EXPECT_THAT(result.out, HasSubstr("rank 1"));
}

struct RankFault {
  const char *fault, *kind;
};

class OneRankFails : public RanksRun, public ::testing::WithParamInterface<RankFault> {};

TEST_P(OneRankFails, IsNamedWithPhaseStepAndHost) {
  const auto begin = Clock::now();
  const ProgramResult result = run_program(
      FLOPMARK_PROGRAM,
      job(2, with_fault({}), {{"FLOPMARK_FAULT", GetParam().fault}, {"FLOPMARK_FAULT_RANK", "1"}}));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10) + kSpareTime);
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("rank 1 on "), HasSubstr("phase timed"), HasSubstr("step 7")));
  const nlohmann::json record = this->record();
  EXPECT_EQ(record["status"], "failed");
  EXPECT_EQ(record["failure"]["kind"], GetParam().kind);
  EXPECT_EQ(record["failure"]["rank"], 1);
  EXPECT_EQ(record["failure"]["phase"], "timed");
  EXPECT_EQ(record["failure"]["step"], 7);
  EXPECT_NE(record["failure"]["host"], "");
}

INSTANTIATE_TEST_SUITE_P(Kinds, OneRankFails,
                         ::testing::Values(RankFault{"throw@timed:7", "error"},
                                           RankFault{"crash@timed:7", "crash"},
                                           RankFault{"kill@timed:7", "killed"},
                                           RankFault{"oom@timed:7", "out_of_memory"},
                                           RankFault{"hang@timed:7", "timeout"}),
                         [](const auto& the_case) { return std::string(the_case.param.kind); });

TEST_F(RanksRun, ALossThatIsNoNumberOnOneIsThatOfAll) {
  const ProgramResult result =
      run_program(FLOPMARK_PROGRAM,
                  job(2, with_fault({}), {{"FLOPMARK_FAULT", "nan@timed:3"}, {"FLOPMARK_FAULT_RANK", "1"}}));
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_EQ(record()["failure"]["kind"], "nan_loss");
  EXPECT_FALSE(record()["failure"].contains("rank")) << record()["failure"];
}

TEST_F(RanksRun, WhatEndsTheSecondPassIsToldAsOfIt) {
  const ProgramResult result = run_program(
      FLOPMARK_PROGRAM, job(2, with_fault({"--set", "measure.loader=both"}),
                            {{"FLOPMARK_FAULT", "throw@cached:3"}, {"FLOPMARK_FAULT_RANK", "1"}}));
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_EQ(record()["failure"]["rank"], 1) << record()["failure"];
  EXPECT_EQ(record()["failure"]["phase"], "cached");
  EXPECT_EQ(record()["failure"]["step"], 3);
}

// Where the warm-up has no step of its own, what is exchanged must be known when the clock starts all the
// same.
TEST_F(RanksRun, WithoutWarmUpTheExchangeIsSeen) {
  const ProgramResult result = run_program(
      FLOPMARK_PROGRAM, job(2, {"--set", "measure.warmup_min_steps=0", "--set", "measure.warmup_max_steps=0",
                                "--set", "parallel.bucket_bytes=20000"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json record = this->record();
  EXPECT_EQ(record["warmup"]["steps"], 2);
  EXPECT_GT(record["communication"]["total_s"], 0);
  EXPECT_GT(record["communication"]["bytes_per_step"], 0);
}

// NCCL's watchdog ends the process of a rank that lost another: that is no crash of its own.
TEST_F(RanksRun, AWatchdogThatThrowsTellsOfTheOthers) {
  const ProgramResult result = run_program(
      FLOPMARK_PROGRAM,
      job(2, with_fault({}), {{"FLOPMARK_FAULT", "watchdog@timed:7"}, {"FLOPMARK_FAULT_RANK", "1"}}));
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_EQ(record()["failure"]["kind"], "peer_lost") << record()["failure"];
}

class KilledRank : public RanksRun, public ::testing::WithParamInterface<unsigned> {};

// Twenty times in all, each at another moment: while loading, meeting, warming up, or in some timed step.
TEST_P(KilledRank, AtAnyMomentEndsTheJob) {
  std::mt19937 random(GetParam());
  std::uniform_int_distribution<int> wait_ms(0, 4000), which(0, 1);
  for (int round = 0; round < 5; ++round) {
    RunningProgram program(FLOPMARK_PROGRAM, job(2, {"--force", "--set", "measure.steps=100000"}));
    const int rank = which(random);
    ASSERT_TRUE(holds_soon([&] { return worker_of(rank).has_value(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms(random)));
    const auto pid = worker_of(rank);
    ASSERT_TRUE(pid);
    ::kill(*pid, SIGKILL);
    const auto begin = Clock::now();
    const ProgramResult result = program.wait();
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10) + kSpareTime) << round;
    EXPECT_EQ(result.exit_code, 125) << round << ": " << result.err;
    const nlohmann::json failure = record()["failure"];
    EXPECT_EQ(failure["kind"], "killed") << failure;
    EXPECT_EQ(failure["rank"], rank) << failure;
    EXPECT_THAT(result.err, HasSubstr("SIGKILL"));
    EXPECT_TRUE(workers().empty()) << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, KilledRank, ::testing::Values(1, 2, 3, 4));

TEST_F(RanksRun, OneThatIsStoppedHangsTheOthersInTime) {
  RunningProgram program(FLOPMARK_PROGRAM,
                         job(2, {"--set", "measure.steps=100000", "--set", "parallel.timeout_s=5"}));
  ASSERT_TRUE(holds_soon([&] { return worker_of(1).has_value(); }));
  std::this_thread::sleep_for(std::chrono::seconds(5));
  const auto pid = worker_of(1);
  ASSERT_TRUE(pid);
  ::kill(*pid, SIGSTOP);
  const auto begin = Clock::now();
  const ProgramResult result = program.wait();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5) + kSpareTime);
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_EQ(record()["failure"]["kind"], "timeout") << record()["failure"];
  EXPECT_EQ(record()["failure"]["rank"], 1);
}

TEST_F(RanksRun, CtrlCEndsAllRanks) {
  RunningProgram program(FLOPMARK_PROGRAM, job(2, {"--set", "measure.steps=100000"}));
  ASSERT_TRUE(holds_soon([&] { return workers().size() == 2; }));
  std::this_thread::sleep_for(std::chrono::seconds(3));
  ::kill(program.pid(), SIGINT);
  const auto begin = Clock::now();
  EXPECT_EQ(program.wait().exit_code, 130);
  EXPECT_LT(Clock::now() - begin, kSpareTime / 2);
  EXPECT_FALSE(std::filesystem::exists(record_file()));
}

TEST_F(RanksRun, AKilledFrontEndTakesAllRanksWithIt) {
  RunningProgram program(FLOPMARK_PROGRAM, job(2, {"--set", "measure.steps=100000"}));
  ASSERT_TRUE(holds_soon([&] { return workers().size() == 2; }));
  ::kill(program.pid(), SIGKILL);
  program.wait();
  EXPECT_TRUE(holds_soon([&] { return workers().empty(); }));
}

}  // namespace
}  // namespace flopmark::testing
