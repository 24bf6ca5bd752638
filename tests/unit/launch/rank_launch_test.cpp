#include "launch/rank_launch.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "launch_fixture.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::UnorderedElementsAre;
using Status = LaunchOutcome::Status;
using Clock = std::chrono::steady_clock;

class RankLaunch : public LaunchTest {
 protected:
  void SetUp() override {
    LaunchTest::SetUp();
    ::setenv("FAKE_ARGUMENTS_FILE", (scratch_ / "arguments").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("FAKE_ARGUMENTS_FILE");
    ::unsetenv("FAKE_RANKS");
    ::unsetenv("FAKE_LOST");
    LaunchTest::TearDown();
  }

  /// Ranks behave as `modes` says ("1:kill"), the others as `mode`.
  LaunchRequest job(int64_t ranks, const char* mode, const char* modes = "") const {
    ::setenv("FAKE_RANKS", modes, 1);
    LaunchRequest wanted = request(mode);
    wanted.config["parallel"] = {{"ranks", ranks}, {"timeout_s", 5}};
    wanted.peer_grace = std::chrono::seconds(1);
    return wanted;
  }
  Failure failure_of(const LaunchRequest& wanted) {
    const LaunchOutcome outcome = run_launch(wanted, sink_);
    EXPECT_EQ(outcome.status, Status::failed);
    expect_nothing_left();
    return outcome.failure.value_or(Failure{});
  }
  /// From --rank on, of every worker.
  std::vector<std::string> places() const {
    std::vector<std::string> places;
    std::ifstream file(scratch_ / "arguments");
    for (std::string line; std::getline(file, line);) {
      const size_t begin = line.find("--rank ");
      places.push_back(begin == std::string::npos ? line : line.substr(begin));
    }
    return places;
  }
};

TEST_F(RankLaunch, RanksOfAConfig) {
  EXPECT_EQ(ranks_of(nlohmann::json::object()), 1);
  EXPECT_EQ(ranks_of({{"parallel", {{"ranks", 4}}}}), 4);
}

TEST_F(RankLaunch, StartsEveryRankAndTakesTheSamplesOfTheFirst) {
  const LaunchOutcome outcome = run_launch(job(3, "ok"), sink_);
  ASSERT_EQ(outcome.status, Status::ok);
  ASSERT_TRUE(outcome.samples);
  EXPECT_EQ(outcome.samples->ranks.size(), 3U);
  EXPECT_EQ(outcome.samples->timed.samples, 300);
  const std::string rest = " --ranks 3 --local-rank 1 --local-ranks 3 --meeting-file " +
                           (scratch_ / "meeting").string() + " --meeting launch";
  EXPECT_THAT(places(), testing::Contains("--rank 1" + rest));
  EXPECT_EQ(places().size(), 3U);
  EXPECT_EQ(sink_.updates.size(), 4U) << "progress is that of the first";
  expect_nothing_left();
}

TEST_F(RankLaunch, AnOldMeetingFileIsRemoved) {
  std::ofstream(scratch_ / "meeting") << "of a former launch";
  EXPECT_EQ(run_launch(job(2, "ok"), sink_).status, Status::ok);
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "meeting"));
}

TEST_F(RankLaunch, ARankThatIsKilledIsNamed) {
  const Failure failure = failure_of(job(3, "survivor", "1:kill"));
  EXPECT_EQ(failure.kind, "killed");
  EXPECT_EQ(failure.rank, 1);
  EXPECT_TRUE(failure.host);
  EXPECT_EQ(failure.phase, "timed");
  EXPECT_EQ(failure.step, 7);
  EXPECT_THAT(failure.text, StartsWith("rank 1 on "));
}

TEST_F(RankLaunch, ACrashBringsItsLastLines) {
  const Failure failure = failure_of(job(2, "survivor", "0:crash"));
  EXPECT_EQ(failure.kind, "crash");
  EXPECT_EQ(failure.rank, 0);
  EXPECT_THAT(failure.text, HasSubstr("\n  model.cpp: about to read past the end"));
}

TEST_F(RankLaunch, AReportedFailureIsNamed) {
  const Failure failure = failure_of(job(2, "survivor", "1:oom"));
  EXPECT_EQ(failure.kind, "out_of_memory");
  EXPECT_EQ(failure.rank, 1);
}

TEST_F(RankLaunch, AHangIsFoundThroughTheOthers) {
  ::setenv("FAKE_LOST", "2", 1);
  const auto begin = Clock::now();
  const Failure failure = failure_of(job(3, "survivor", "2:hang_deaf"));
  EXPECT_LT(Clock::now() - begin, kPatience / 2);
  EXPECT_EQ(failure.kind, "timeout");
  EXPECT_EQ(failure.rank, 2);
  EXPECT_EQ(failure.step, 7);
}

TEST_F(RankLaunch, OnesThatDoNotComplainAreKilledToo) {
  const auto begin = Clock::now();
  const Failure failure = failure_of(job(4, "hang_deaf", "3:kill"));
  EXPECT_LT(Clock::now() - begin, kPatience / 2);
  EXPECT_EQ(failure.kind, "killed");
  EXPECT_EQ(failure.rank, 3);
}

TEST_F(RankLaunch, ARankMayLeaveNothing) {
  const Failure failure = failure_of(job(2, "survivor", "1:no_samples"));
  EXPECT_EQ(failure.rank, 1);
  EXPECT_THAT(failure.text, HasSubstr("without writing its samples"));
}

TEST_F(RankLaunch, AllLateIsNobodysFault) {
  LaunchRequest wanted = job(2, "hang_deaf");
  wanted.timeout = std::chrono::seconds(2);
  const Failure failure = failure_of(wanted);
  EXPECT_EQ(failure.kind, "timeout");
  EXPECT_EQ(failure.rank, std::nullopt);
  EXPECT_THAT(failure.text, HasSubstr("measure.timeout_s"));
}

TEST_F(RankLaunch, AMistakeIsAnError) {
  const auto text_of = [&](const LaunchRequest& wanted) {
    try {
      run_launch(wanted, sink_);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(text_of(job(2, "hang", "1:error200")), "rank 1: corpus.bin: token 300 is not below 256");
  EXPECT_THAT(text_of(job(2, "error200")), HasSubstr("corpus.bin: token 300 is not below 256"));
  EXPECT_THAT(text_of(job(2, "ok", "1:wrong_protocol")), HasSubstr("is no worker of this build"));
  expect_nothing_left();
}

TEST_F(RankLaunch, ASignalKillsAllAtOnce) {
  sink_.on_progress = [raised = false](const ProgressUpdate& update) mutable {
    if (!raised && update.phase == "timed") raised = std::raise(SIGINT) == 0;
  };
  LaunchRequest wanted = job(3, "hang_deaf");
  wanted.stop_grace = kPatience;
  const auto begin = Clock::now();
  const LaunchOutcome outcome = run_launch(wanted, sink_);
  EXPECT_LT(Clock::now() - begin, kPatience / 2) << "it waited for the grace";
  EXPECT_EQ(sink_.stops, 1);
  EXPECT_FALSE(sink_.stops_after_step);
  EXPECT_EQ(outcome.status, Status::interrupted);
  EXPECT_EQ(outcome.signal, SIGINT);
  EXPECT_FALSE(outcome.samples);
  expect_nothing_left();
}

TEST_F(RankLaunch, AllDieWithTheFrontEnd) {
  const LaunchRequest wanted = job(3, "hang_deaf");
  const pid_t front_end = ::fork();
  if (front_end == 0) {
    run_launch(wanted, sink_);
    ::_exit(0);
  }
  ASSERT_TRUE(holds_soon([this] { return pids().size() == 3; }));
  ::kill(front_end, SIGKILL);
  ASSERT_EQ(::waitpid(front_end, nullptr, 0), front_end);
  for (const pid_t pid : pids()) EXPECT_TRUE(holds_soon([pid] { return is_gone(pid); })) << pid;
}

TEST_F(RankLaunch, AWorkerThatIsMissingLeavesNothing) {
  LaunchRequest wanted = job(2, "ok");
  wanted.worker = scratch_ / "missing";
  EXPECT_THROW(run_launch(wanted, sink_), Error);
  expect_nothing_left();
}

TEST_F(RankLaunch, UnderALauncherThereIsOneWorker) {
  LaunchRequest wanted = job(4, "ok");
  RankPlace place;
  place.rank = 3;
  place.ranks = 4;
  place.local_rank = 1;
  place.local_ranks = 2;
  place.master_address = "n04";
  place.master_port = 4711;
  place.agent_store = true;
  place.meeting = "launch-2";
  wanted.place = place;
  EXPECT_EQ(run_launch(wanted, sink_).status, Status::ok);
  EXPECT_THAT(places(), ElementsAre("--rank 3 --ranks 4 --local-rank 1 --local-ranks 2 --master n04:4711 "
                                    "--meeting launch-2 --agent-store"));
}

/// Nobody here hears that the other ranks have ended: a worker that is stopped would stay for hours.
TEST_F(RankLaunch, UnderALauncherOneThatFallsSilentIsEnded) {
  LaunchRequest wanted = job(2, "hang_deaf");
  wanted.config["parallel"]["timeout_s"] = 1;
  wanted.place = RankPlace{};
  wanted.place->rank = 1;
  wanted.place->ranks = 2;
  wanted.place->master_address = "n04";
  const auto begin = Clock::now();
  const Failure failure = failure_of(wanted);
  EXPECT_LT(Clock::now() - begin, kPatience / 2);
  EXPECT_EQ(failure.kind, "timeout");
  EXPECT_EQ(failure.rank, 1);
  EXPECT_TRUE(failure.host);
  EXPECT_EQ(failure.step, 7);
  EXPECT_THAT(failure.text,
              AllOf(StartsWith("rank 1 on "), HasSubstr("hung in phase timed, step 7"),
                    HasSubstr("nothing was heard of it for 2 s (parallel.timeout_s and 1 s more)")));
}

TEST_F(RankLaunch, UnderALauncherOneThatSpeaksHasItsTime) {
  LaunchRequest wanted = job(2, "slow");
  wanted.config["measure"]["steps"] = 15;  // 0.2 s each, longer than the silence of 2 s
  wanted.config["parallel"]["timeout_s"] = 1;
  wanted.place = RankPlace{};
  wanted.place->ranks = 2;
  wanted.place->master_address = "n04";
  EXPECT_EQ(run_launch(wanted, sink_).status, Status::ok);
}

TEST_F(RankLaunch, NcclsMonitorIsOffUnlessTheUserSetIt) {
  LaunchRequest wanted = job(2, "ok");
  wanted.worker = scratch_ / "noting-worker";
  const std::filesystem::path seen = scratch_ / "seen";
  std::ofstream(wanted.worker) << "#!/bin/sh\necho \"<$TORCH_NCCL_ENABLE_MONITORING>\" >> '" << seen.string()
                               << "'\nexec " FLOPMARK_FAKE_WORKER " \"$@\"\n";
  std::filesystem::permissions(wanted.worker, std::filesystem::perms::owner_all);
  const auto seen_in = [&](const LaunchRequest& launched) {
    std::filesystem::remove(seen);
    EXPECT_EQ(run_launch(launched, sink_).status, Status::ok);
    std::ifstream file(seen);
    std::string text;
    for (std::string line; std::getline(file, line);) text += line;
    return text;
  };
  EXPECT_EQ(seen_in(wanted), "<0><0>");
  LaunchRequest of_side = wanted;
  of_side.environment = {{"TORCH_NCCL_ENABLE_MONITORING", "2"}};
  EXPECT_EQ(seen_in(of_side), "<2><2>");
  ::setenv("TORCH_NCCL_ENABLE_MONITORING", "1", 1);
  EXPECT_EQ(seen_in(wanted), "<1><1>");
  ::unsetenv("TORCH_NCCL_ENABLE_MONITORING");
  wanted.config.erase("parallel");
  EXPECT_EQ(seen_in(wanted), "<>") << "alone";
}

TEST_F(RankLaunch, ACountNeedsNoRanks) {
  LaunchRequest wanted = job(2, "ok");
  wanted.count_only = true;
  EXPECT_EQ(run_launch(wanted, sink_).status, Status::ok);
  ASSERT_EQ(places().size(), 1U);
  EXPECT_THAT(places().front(), testing::EndsWith("--progress-fd 3 --count"));
}

}  // namespace
}  // namespace flopmark
