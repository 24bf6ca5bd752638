#include "launch/launch_outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flopmark {
namespace {

using testing::HasSubstr;
using testing::Not;
using Status = LaunchOutcome::Status;

WorkerEnd timed_step_7() {
  WorkerEnd end;
  end.greeted = true;
  end.last = {"timed", 7, 50, 10};
  return end;
}

/// Judged without a sample file.
LaunchOutcome judged(const WorkerEnd& end) {
  LaunchRequest request;
  request.worker = "/opt/flopmark-worker";
  request.timeout = std::chrono::seconds(90);
  return judge_end(end, request, "/nowhere/samples.json");
}

TEST(LaunchOutcome, CrashNamesSignalAndPlace) {
  WorkerEnd end = timed_step_7();
  end.status.signal = SIGSEGV;
  const LaunchOutcome outcome = judged(end);
  EXPECT_EQ(outcome.status, Status::failed);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->kind, "crash");
  EXPECT_EQ(outcome.failure->phase, "timed");
  EXPECT_EQ(outcome.failure->step, 7);
  EXPECT_EQ(outcome.failure->text, "worker crashed (SIGSEGV) in phase timed, step 7 of 50");
}

TEST(LaunchOutcome, CrashLineIsMoreRecentThanProgress) {
  WorkerEnd end = timed_step_7();
  end.status.signal = SIGBUS;
  end.failure = Failure{"crash", "timed", 9, "worker crashed"};
  end.log = {"only line"};
  EXPECT_EQ(judged(end).failure->text,
            "worker crashed (SIGBUS) in phase timed, step 9 of 50; its last line of output:\n  only line");
  end.failure = Failure{"crash", "count", std::nullopt, "worker crashed"};
  EXPECT_EQ(judged(end).failure->step, std::nullopt);
  EXPECT_THAT(judged(end).failure->text, HasSubstr("worker crashed (SIGBUS) in phase count;"));
}

TEST(LaunchOutcome, OwnReportOutweighsTheSignalAfterIt) {
  WorkerEnd end = timed_step_7();
  end.status.signal = SIGABRT;
  end.failure = Failure{"out_of_memory", "timed", std::nullopt, "out of memory"};
  const auto failure = judged(end).failure;
  EXPECT_EQ(failure->kind, "out_of_memory");
  EXPECT_EQ(failure->step, 7);
  EXPECT_EQ(failure->text, "out of memory (in phase timed, step 7 of 50)");
  end.failure->text = "out of memory in phase timed, step 7";
  EXPECT_EQ(judged(end).failure->text, "out of memory in phase timed, step 7");
}

TEST(LaunchOutcome, KilledFromOutside) {
  WorkerEnd end = timed_step_7();
  end.status.signal = SIGKILL;
  EXPECT_EQ(judged(end).failure->kind, "killed");
  EXPECT_THAT(
      judged(end).failure->text,
      HasSubstr(
          "worker was killed from outside (SIGKILL) in phase timed, step 7 of 50; the likely cause is the "
          "kernel's out-of-memory killer"));
  end.status.signal = SIGTERM;
  EXPECT_EQ(judged(end).failure->text,
            "worker was killed from outside (SIGTERM) in phase timed, step 7 of 50");
}

TEST(LaunchOutcome, Timeout) {
  WorkerEnd end = timed_step_7();
  end.last = {"warmup", 12, 0, 0};
  end.status.signal = SIGKILL;
  end.killed_by_us = end.timed_out = true;
  EXPECT_EQ(judged(end).failure->kind, "timeout");
  EXPECT_EQ(judged(end).failure->step, 12);
  EXPECT_EQ(
      judged(end).failure->text,
      "worker did not end within the limit of 90 s (measure.timeout_s): killed in phase warmup, step 12");
  end.status = {0, 0, false};
  EXPECT_THAT(judged(end).failure->text, HasSubstr("stuck in the kernel"));
}

TEST(LaunchOutcome, CrashBeforeTheGreetingIsTheWorkers) {
  WorkerEnd end;
  end.status.signal = SIGILL;
  const auto failure = judged(end).failure;
  EXPECT_EQ(failure->kind, "crash");
  EXPECT_EQ(failure->text, "worker crashed (SIGILL) in phase load");
}

/// What `end` is refused with.
std::string refusal_of(const WorkerEnd& end) {
  try {
    judged(end);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "not refused";
}

TEST(LaunchOutcome, WhatDoesNotGreetIsNoWorker) {
  WorkerEnd end;
  end.killed_by_us = true;
  end.status.signal = SIGKILL;
  EXPECT_THAT(refusal_of(end), HasSubstr("and said nothing within 60 s; "));
  end.first_line = "{\"protocol\":\"flopmark.worker/2\"}";
  EXPECT_EQ(refusal_of(end),
            "/opt/flopmark-worker is no worker of this build: it should greet with protocol "
            "flopmark.worker/1 and began with: {\"protocol\":\"flopmark.worker/2\"}; build both programs "
            "from the same commit, or name the right worker with --worker or in the environment variable "
            "FLOPMARK_WORKER");
  end = {};
  EXPECT_THAT(refusal_of(end), HasSubstr("and said nothing; "));
  end.status.code = 127;
  end.log = {"error while loading shared libraries: libtorch_cpu.so"};
  EXPECT_THAT(refusal_of(end), HasSubstr("and ended with exit code 127; "));
  EXPECT_THAT(refusal_of(end), HasSubstr("; its last line of output:\n  error while loading"));
}

TEST(LaunchOutcome, WorkersErrorIsThrownAsItIs) {
  WorkerEnd end = timed_step_7();
  end.status.code = 200;
  end.error = WorkerError{ExitCode::cannot_judge, "model.pt does not load"};
  try {
    judged(end);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_judge);
    EXPECT_STREQ(error.what(), "model.pt does not load");
  }
}

TEST(LaunchOutcome, InterruptionOutweighsTheRest) {
  WorkerEnd end;
  end.interrupt = SIGHUP;
  end.first_line = "junk";
  end.error = WorkerError{ExitCode::usage, "x"};
  end.status.signal = SIGSEGV;
  const LaunchOutcome outcome = judged(end);
  EXPECT_EQ(outcome.status, Status::interrupted);
  EXPECT_EQ(outcome.signal, SIGHUP);
  EXPECT_FALSE(outcome.failure);
  EXPECT_FALSE(outcome.samples);
}

TEST(LaunchOutcome, CountsLinesNotUnderstood) {
  WorkerEnd end = timed_step_7();
  end.not_understood = 3;
  EXPECT_EQ(judged(end).failure->text,
            "worker ended without writing its samples (in phase timed, step 7 of 50); 3 of its progress "
            "lines were not understood");
  EXPECT_THAT(judged(timed_step_7()).failure->text, Not(HasSubstr("understood")));
}

}  // namespace
}  // namespace flopmark
