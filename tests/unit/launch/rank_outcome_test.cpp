#include "launch/rank_outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "flopmark/error.h"

namespace flopmark {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Status = LaunchOutcome::Status;

WorkerEnd at_step(int64_t step) {
  WorkerEnd end;
  end.greeted = true;
  end.last = {"timed", step, 50, 10};
  return end;
}

WorkerEnd lost(int64_t rank, int64_t step) {
  WorkerEnd end = at_step(step);
  end.status.code = kWorkerSentFailure;
  end.failure = Failure{kPeerLost, "timed", step, "no word from rank 1"};
  end.failure->rank = rank;
  end.failure->host = "far-host";
  return end;
}

WorkerEnd killed_from_outside(int64_t step) {
  WorkerEnd end = at_step(step);
  end.status.signal = SIGKILL;
  return end;
}

WorkerEnd killed_by_us(int64_t step) {
  WorkerEnd end = killed_from_outside(step);
  end.killed_by_us = true;
  return end;
}

WorkerEnd refusing(const std::string& text) {
  WorkerEnd end = at_step(0);
  end.status.code = kWorkerSentError;
  end.error = WorkerError{ExitCode::usage, text};
  return end;
}

/// Judged without sample files; trouble shows in the order `troubled`. `place`: that of a launcher's rank.
LaunchOutcome judged(const std::vector<WorkerEnd>& workers, const std::vector<size_t>& troubled,
                     const std::optional<RankPlace>& place = {}) {
  std::vector<RankEnd> ends;
  for (const WorkerEnd& end : workers) ends.push_back({std::ssize(ends), end, "/nowhere/samples.json"});
  LaunchRequest request;
  request.worker = "/opt/flopmark-worker";
  request.place = place;
  return judge_ranks(ends, troubled, request);
}

Failure failure_of(const std::vector<WorkerEnd>& workers, const std::vector<size_t>& troubled,
                   const std::optional<RankPlace>& place = {}) {
  const LaunchOutcome outcome = judged(workers, troubled, place);
  EXPECT_EQ(outcome.status, Status::failed);
  EXPECT_FALSE(outcome.samples);
  return outcome.failure.value_or(Failure{});
}

TEST(RankOutcome, ADeathComesBeforeWhatOthersSayOfIt) {
  const Failure failure = failure_of({lost(1, 9), killed_from_outside(7), lost(1, 9)}, {0, 1, 2});
  EXPECT_EQ(failure.kind, "killed");
  EXPECT_EQ(failure.rank, 1);
  EXPECT_NE(failure.host, std::nullopt);
  EXPECT_NE(failure.host, "far-host");
  EXPECT_EQ(failure.phase, "timed");
  EXPECT_EQ(failure.step, 9) << "the others know better than a progress line half a second old";
  EXPECT_THAT(failure.text,
              AllOf(StartsWith("rank 1 on "), HasSubstr("(SIGKILL) in phase timed, step 9 of 50")));
}

TEST(RankOutcome, TheFirstOfSeveralDeathsDecides) {
  EXPECT_EQ(failure_of({killed_from_outside(7), killed_from_outside(7)}, {1, 0}).rank, 1);
}

TEST(RankOutcome, AReportHasItsLastLinesOfOutput) {
  WorkerEnd out_of_memory = at_step(7);
  out_of_memory.failure = Failure{"out_of_memory", "timed", 7, "out of memory: 1 GiB asked for"};
  out_of_memory.log = {"only line"};
  const Failure failure = failure_of({lost(1, 7), out_of_memory}, {1, 0});
  EXPECT_EQ(failure.kind, "out_of_memory");
  EXPECT_EQ(failure.rank, 1);
  EXPECT_THAT(failure.text, AllOf(HasSubstr("1 GiB asked for (in phase timed, step 7 of 50)"),
                                  HasSubstr("its last line of output:\n  only line")));
}

TEST(RankOutcome, OneThatSaysNothingWhileOthersComplainHangs) {
  WorkerEnd hung = killed_by_us(6);
  hung.log = {"waiting for the disk"};
  const Failure failure = failure_of({lost(2, 7), lost(2, 7), hung}, {1, 0, 2});
  EXPECT_EQ(failure.kind, "timeout");
  EXPECT_EQ(failure.rank, 2);
  EXPECT_EQ(failure.step, 7);
  EXPECT_THAT(failure.text, AllOf(StartsWith("rank 2 on "), HasSubstr("hung in phase timed, step 7"),
                                  HasSubstr("parallel.timeout_s"), HasSubstr("\n  waiting for the disk")));
}

TEST(RankOutcome, OfSeveralSilentOnesTheOneNamedHangs) {
  EXPECT_EQ(failure_of({lost(2, 7), killed_by_us(7), killed_by_us(7)}, {0, 1, 2}).rank, 2);
  EXPECT_EQ(failure_of({lost(5, 7), killed_by_us(7), killed_by_us(7)}, {0, 1, 2}).rank, 1);
}

TEST(RankOutcome, WhereAllComplainTheirWordCounts) {
  const Failure failure = failure_of({lost(1, 7), lost(0, 7)}, {0, 1});
  EXPECT_EQ(failure.kind, kPeerLost);
  EXPECT_EQ(failure.rank, 1);
  EXPECT_EQ(failure.host, "far-host");
}

TEST(RankOutcome, WhatAllDoNamesNobody) {
  WorkerEnd nan = at_step(7);
  nan.failure = Failure{"nan_loss", "timed", 7, "loss is nan in phase timed, step 7"};
  const Failure failure = failure_of({nan, nan}, {0, 1});
  EXPECT_EQ(failure.kind, "nan_loss");
  EXPECT_EQ(failure.rank, std::nullopt);
  EXPECT_EQ(failure.text, "loss is nan in phase timed, step 7");
  WorkerEnd late = killed_by_us(7);
  late.timed_out = true;
  EXPECT_EQ(failure_of({late, late}, {0, 1}).rank, std::nullopt);
}

/// Of a loss that all share each rank says that itself met it.
TEST(RankOutcome, ALossIsOfAllRanks) {
  const auto nan_of = [](int64_t rank) {
    WorkerEnd end = at_step(7);
    end.failure = Failure{"nan_loss", "timed", 7, "loss is nan in phase timed, step 7", rank, "fake-host"};
    return end;
  };
  RankPlace place;
  place.rank = 1;
  place.ranks = 2;
  for (const Failure& failure :
       {failure_of({nan_of(0), nan_of(1)}, {0, 1}), failure_of({nan_of(0), killed_by_us(7)}, {0, 1}),
        failure_of({nan_of(1)}, {0}, place)}) {
    EXPECT_EQ(failure.kind, "nan_loss");
    EXPECT_EQ(failure.rank, std::nullopt);
    EXPECT_EQ(failure.host, std::nullopt);
    EXPECT_EQ(failure.text, "loss is nan in phase timed, step 7");
  }
}

TEST(RankOutcome, TheOneLeastFarIsLate) {
  WorkerEnd ahead = killed_by_us(8), behind = killed_by_us(7);
  ahead.timed_out = behind.timed_out = true;
  EXPECT_EQ(failure_of({ahead, behind}, {0, 1}).rank, 1);
  behind.last = {"warmup", 30, 0, 0};
  EXPECT_EQ(failure_of({ahead, behind}, {0, 1}).phase, "warmup");
}

TEST(RankOutcome, AMistakeIsToldWithItsRankUnlessAllTellIt) {
  const auto text_of = [](const std::vector<WorkerEnd>& workers) {
    try {
      judged(workers, {1, 0});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(text_of({refusing("no file"), refusing("no file")}), "no file");
  EXPECT_EQ(text_of({killed_by_us(0), refusing("no file")}), "rank 1: no file");
}

TEST(RankOutcome, AnInterruptionOutweighsAll) {
  WorkerEnd stopped = killed_by_us(7);
  stopped.interrupt = SIGTERM;
  const LaunchOutcome outcome = judged({killed_from_outside(7), stopped}, {0, 1});
  EXPECT_EQ(outcome.status, Status::interrupted);
  EXPECT_EQ(outcome.signal, SIGTERM);
  EXPECT_FALSE(outcome.failure);
}

TEST(RankOutcome, LeavingWithoutSamplesIsItsOwnDoing) {
  const Failure failure = failure_of({lost(1, 7), at_step(7)}, {0, 1});
  EXPECT_EQ(failure.rank, 1);
  EXPECT_THAT(failure.text, HasSubstr("worker ended without writing its samples"));
}

}  // namespace
}  // namespace flopmark
