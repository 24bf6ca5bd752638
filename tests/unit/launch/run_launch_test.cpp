#include <gmock/gmock.h>

#include "launch_fixture.h"

namespace flopmark {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Status = LaunchOutcome::Status;

class RunLaunch : public LaunchTest {
 protected:
  /// The failure of a launch in `mode`, which has failed and left no process.
  Failure failure_of(const char* mode) { return failure_of(launch(mode)); }
  Failure failure_of(const LaunchOutcome& outcome) {
    EXPECT_EQ(outcome.status, Status::failed);
    EXPECT_TRUE(outcome.failure);
    expect_nothing_left();
    return outcome.failure.value_or(Failure{});
  }
  /// The text of the Error 200 that a launch in `mode` ends with.
  std::string error_of(const char* mode) {
    try {
      launch(mode);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      expect_nothing_left();
      return error.what();
    }
    ADD_FAILURE() << mode << ": no error";
    return "";
  }
};

void expect_at_step_7(const Failure& failure) {
  EXPECT_EQ(failure.phase, "timed");
  EXPECT_EQ(failure.step, 7);
  EXPECT_THAT(failure.text, HasSubstr("in phase timed, step 7 of 50"));
}

TEST_F(RunLaunch, OkReadsSamplesAndShowsProgress) {
  const LaunchOutcome outcome = launch("ok");
  EXPECT_EQ(outcome.status, Status::ok);
  EXPECT_FALSE(outcome.failure);
  ASSERT_TRUE(outcome.samples);
  const LaunchSamples& samples = *outcome.samples;
  EXPECT_EQ(samples.status, "ok");
  EXPECT_EQ(samples.timed.steps, 50);
  EXPECT_EQ(samples.timed.step_s, std::vector<double>(50, 0.2));
  EXPECT_EQ(samples.timed.samples, 100);
  EXPECT_EQ(samples.timed.tokens, 3200);
  EXPECT_EQ(samples.timed.losses.front(), 2.0);
  EXPECT_EQ(samples.timed.losses.back(), 1.0);
  EXPECT_EQ(samples.parameters, 125248);
  ASSERT_TRUE(samples.flops);
  EXPECT_EQ(samples.flops->hardware_flop(), 45350912);
  ASSERT_EQ(sink_.updates.size(), 4U);
  EXPECT_EQ(sink_.updates[0].phase, "load");
  EXPECT_EQ(sink_.updates[2].phase, "timed");
  EXPECT_EQ(sink_.updates[2].step, 50);
  EXPECT_EQ(sink_.updates[3].phase, "save");
  expect_nothing_left();
}

TEST_F(RunLaunch, CrashNamesSignalPlaceAndLog) {
  const Failure failure = failure_of("crash");
  EXPECT_EQ(failure.kind, "crash");
  expect_at_step_7(failure);
  EXPECT_EQ(failure.text,
            "worker crashed (SIGSEGV) in phase timed, step 7 of 50; its last line of output:\n"
            "  model.cpp: about to read past the end");
}

TEST_F(RunLaunch, AbortIsACrash) {
  const Failure failure = failure_of("abort");
  EXPECT_EQ(failure.kind, "crash");
  expect_at_step_7(failure);
  EXPECT_THAT(failure.text, StartsWith("worker crashed (SIGABRT)"));
  EXPECT_THAT(failure.text,
              EndsWith("\n  terminate called after throwing an instance of 'std::logic_error'"));
}

TEST_F(RunLaunch, KilledFromOutside) {
  const Failure failure = failure_of("kill");
  EXPECT_EQ(failure.kind, "killed");
  expect_at_step_7(failure);
  EXPECT_THAT(failure.text, HasSubstr("out-of-memory killer"));
}

TEST_F(RunLaunch, ReportedFailuresAreKept) {
  const Failure nan = failure_of("nan");
  EXPECT_EQ(nan.kind, "nan_loss");
  expect_at_step_7(nan);
  EXPECT_THAT(nan.text, StartsWith("loss is nan"));
  const Failure memory = failure_of("oom");
  EXPECT_EQ(memory.kind, "out_of_memory");
  expect_at_step_7(memory);
  EXPECT_THAT(memory.text, StartsWith("out of memory: 1 GiB asked for"));
}

TEST_F(RunLaunch, FailedSamplesCarryTheirFailure) {
  const LaunchOutcome outcome = launch("failed_samples");
  const Failure failure = failure_of(outcome);
  EXPECT_EQ(failure.kind, "nan_loss");
  EXPECT_EQ(failure.text, "loss is nan in phase timed, step 7");
  ASSERT_TRUE(outcome.samples);
  EXPECT_EQ(outcome.samples->timed.steps, 6);
}

TEST_F(RunLaunch, ReportsThenHangs) {
  LaunchRequest wanted = request("fail_and_hang");
  wanted.stop_grace = std::chrono::milliseconds(200);
  const Failure failure = failure_of(run_launch(wanted, sink_));
  EXPECT_EQ(failure.kind, "out_of_memory");
}

TEST_F(RunLaunch, UsersMistakeIsAnError) {
  EXPECT_EQ(error_of("error200"), "corpus.bin: token 300 is not below 256");
}

TEST_F(RunLaunch, OtherBuildsAreErrors) {
  EXPECT_THAT(error_of("wrong_protocol"), HasSubstr("began with: {\"protocol\":\"flopmark.worker/2\"}"));
  EXPECT_THAT(error_of("no_hello"), HasSubstr("began with: {\"phase\":\"load\""));
  EXPECT_THAT(error_of("silent"), HasSubstr("and said nothing"));
}

TEST_F(RunLaunch, GarbageBetweenTheLinesIsPassedOver) {
  const LaunchOutcome outcome = launch("garbage");
  EXPECT_EQ(outcome.status, Status::ok);
  EXPECT_TRUE(outcome.samples);
  EXPECT_EQ(sink_.updates.back().step, 50);
  expect_nothing_left();
}

TEST_F(RunLaunch, NoOrBadSamples) {
  const Failure none = failure_of("no_samples");
  EXPECT_EQ(none.kind, "error");
  EXPECT_EQ(none.text, "worker ended without writing its samples (in phase timed, step 50 of 50)");
  const Failure bad = failure_of("bad_samples");
  EXPECT_EQ(bad.kind, "error");
  EXPECT_THAT(bad.text, StartsWith("worker wrote samples that cannot be read: "));
  EXPECT_THAT(bad.text, EndsWith("(in phase timed, step 50 of 50)"));
}

TEST_F(RunLaunch, SamplesOfAFormerLaunchAreNotTaken) {
  EXPECT_EQ(launch("ok").status, Status::ok);
  EXPECT_THAT(failure_of("no_samples").text, StartsWith("worker ended without writing"));
}

TEST_F(RunLaunch, BareExitCodeQuotesTheLastLines) {
  const Failure failure = failure_of("exit3");
  EXPECT_EQ(failure.kind, "error");
  EXPECT_THAT(
      failure.text,
      StartsWith("worker ended with exit code 3 in phase load; its last lines of output:\n  line 12\n"));
  EXPECT_THAT(failure.text, EndsWith("\n  line 30\n  no newline at the end"));
}

TEST_F(RunLaunch, GrandchildIsKilledAndHoldsNothingUp) {
  const LaunchOutcome outcome = launch("grandchild");
  EXPECT_EQ(outcome.status, Status::ok);
  expect_nothing_left();
}

TEST_F(RunLaunch, ScratchFolderMissing) {
  LaunchRequest wanted = request("ok");
  wanted.scratch = scratch_ / "missing";
  EXPECT_THROW(run_launch(wanted, sink_), Error);
}

TEST_F(RunLaunch, WorkerMissing) {
  LaunchRequest wanted = request("ok");
  wanted.worker = scratch_ / "missing";
  EXPECT_THROW(run_launch(wanted, sink_), Error);
  expect_nothing_left();
}

}  // namespace
}  // namespace flopmark
