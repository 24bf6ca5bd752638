#include "launch/worker_watch.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "launch_fixture.h"

namespace flopmark {
namespace {

using testing::HasSubstr;
using Status = LaunchOutcome::Status;

class WorkerWatchTest : public LaunchTest {
 protected:
  /// Raises `signal` in this process once the worker shows timed step `step`.
  void raise_at(int64_t step, int signal) {
    sink_.on_progress = [=, raised = false](const ProgressUpdate& update) mutable {
      if (raised || update.phase != "timed" || update.step != step) return;
      raised = true;
      std::raise(signal);
    };
  }

  /// Starts a front-end process that runs `mode`, waits for its worker, kills the front-end and expects the
  /// worker's end.
  void kill_front_end_during(const char* mode) {
    const LaunchRequest wanted = request(mode);
    const pid_t front_end = ::fork();
    if (front_end == 0) {
      run_launch(wanted, sink_);
      ::_exit(0);
    }
    ASSERT_TRUE(holds_soon([this] { return !pids().empty(); }));
    const pid_t worker = pids().front();
    EXPECT_FALSE(is_gone(worker));
    ::kill(front_end, SIGKILL);
    ASSERT_EQ(::waitpid(front_end, nullptr, 0), front_end);
    EXPECT_TRUE(holds_soon([worker] { return is_gone(worker); }));
  }
};

TEST_F(WorkerWatchTest, EachSignalStopsAndKeepsPartialSamples) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    raise_at(2, signal);
    sink_.stops = 0;
    LaunchRequest wanted = request("slow");
    wanted.stop_grace = kPatience;
    const LaunchOutcome outcome = run_launch(wanted, sink_);
    EXPECT_EQ(outcome.status, Status::interrupted);
    EXPECT_EQ(outcome.signal, signal);
    EXPECT_FALSE(outcome.failure);
    ASSERT_TRUE(outcome.samples);
    EXPECT_EQ(outcome.samples->status, "incomplete");
    EXPECT_GE(outcome.samples->timed.steps, 2);
    EXPECT_LT(outcome.samples->timed.steps, 50);
    EXPECT_EQ(sink_.stops, 1);
    expect_nothing_left();
  }
}

TEST_F(WorkerWatchTest, OneThatDoesNotStopIsKilledAfterTheGrace) {
  for (const char* mode : {"hang", "hang_deaf"}) {
    raise_at(7, SIGINT);
    LaunchRequest wanted = request(mode);
    wanted.timeout = std::chrono::hours(10);
    wanted.stop_grace = std::chrono::milliseconds(300);
    const LaunchOutcome outcome = run_launch(wanted, sink_);
    EXPECT_EQ(outcome.status, Status::interrupted);
    EXPECT_FALSE(outcome.samples);
    expect_nothing_left();
  }
}

TEST_F(WorkerWatchTest, SecondSignalKillsAtOnce) {
  raise_at(7, SIGINT);
  sink_.on_stopping = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::raise(SIGINT);
  };
  LaunchRequest wanted = request("hang_deaf");
  wanted.stop_grace = kPatience;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(run_launch(wanted, sink_).status, Status::interrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kPatience / 2) << "it waited for the grace";
  EXPECT_TRUE(sink_.stops_after_step);
  expect_nothing_left();
}

TEST_F(WorkerWatchTest, OneSignalForwardedTwiceIsOne) {
  raise_at(2, SIGINT);
  sink_.on_stopping = [] { std::raise(SIGTERM); };
  const LaunchRequest wanted = request("slow");
  const std::string config = scratch_ / "config.json";
  const std::string samples = scratch_ / "samples.json";
  std::ofstream(config) << wanted.config;
  SignalWatch signals;
  WorkerProcess process(
      {FLOPMARK_FAKE_WORKER, "--config", config, "--samples", samples, "--progress-fd", "3"});
  const WatchLimits limits{.timeout = kPatience, .stop_grace = kPatience, .same_signal = kPatience};
  const WorkerEnd end = WorkerWatch(process, signals, limits, sink_).run();
  EXPECT_EQ(end.interrupt, SIGINT);
  EXPECT_FALSE(end.killed_by_us);
  EXPECT_EQ(end.status.code, 0);
  EXPECT_TRUE(std::filesystem::exists(samples));
}

TEST_F(WorkerWatchTest, TimeoutKillsWhateverTheWorkerDoes) {
  for (const char* mode : {"hang_deaf", "close_progress", "flood"}) {
    LaunchRequest wanted = request(mode);
    wanted.timeout = std::chrono::seconds(3);
    const LaunchOutcome outcome = run_launch(wanted, sink_);
    EXPECT_EQ(outcome.status, Status::failed) << mode;
    ASSERT_TRUE(outcome.failure);
    EXPECT_EQ(outcome.failure->kind, "timeout") << mode;
    EXPECT_EQ(outcome.failure->phase, "timed");
    EXPECT_EQ(outcome.failure->step, 7);
    EXPECT_THAT(outcome.failure->text,
                HasSubstr("the limit of 3 s (measure.timeout_s): killed in phase timed, step 7 of 50"));
    expect_nothing_left();
  }
}

TEST_F(WorkerWatchTest, GreetingHasItsOwnLimit) {
  for (const char* body : {"echo some text; exec sleep 1000", "exec yes some text"}) {
    LaunchRequest wanted = request("ok");
    wanted.worker = scratch_ / "hangs";
    std::ofstream(wanted.worker) << "#!/bin/sh\n" << body << '\n';
    std::filesystem::permissions(wanted.worker, std::filesystem::perms::owner_all);
    wanted.timeout = std::chrono::milliseconds(1);  // the run's own limit would make a failed run of it
    wanted.greeting = std::chrono::milliseconds(500);
    try {
      run_launch(wanted, sink_);
      ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr("said nothing within 0.5 s"));
      EXPECT_THAT(error.what(), HasSubstr("\n  some text"));
    }
    expect_nothing_left();
  }
}

TEST_F(WorkerWatchTest, GreetingsLimitEndsWithTheGreeting) {
  LaunchRequest wanted = request("slow");
  wanted.config["measure"]["steps"] = 8;  // of 0.2 s each
  wanted.greeting = std::chrono::seconds(1);
  EXPECT_EQ(run_launch(wanted, sink_).status, Status::ok);
}

TEST_F(WorkerWatchTest, FloodDoesNotKeepSignalsOut) {
  raise_at(7, SIGTERM);
  LaunchRequest wanted = request("flood");
  wanted.stop_grace = std::chrono::milliseconds(300);
  EXPECT_EQ(run_launch(wanted, sink_).status, Status::interrupted);
  expect_nothing_left();
}

TEST_F(WorkerWatchTest, WorkerDiesWithTheFrontEnd) {
  kill_front_end_during("hang");
  std::filesystem::remove(pid_file_);
  kill_front_end_during("hang_deaf");
  EXPECT_TRUE(has_no_children());
}

TEST_F(WorkerWatchTest, ThrowingSinkLeavesNothingBehind) {
  sink_.on_progress = [](const ProgressUpdate&) { throw std::runtime_error("the terminal is gone"); };
  EXPECT_THROW(run_launch(request("hang_deaf"), sink_), std::runtime_error);
  expect_nothing_left();
}

TEST_F(WorkerWatchTest, HandlersAndMaskAreRestored) {
  std::signal(SIGTERM, SIG_IGN);
  sigset_t before;
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  EXPECT_EQ(launch("ok").status, Status::ok);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < 32; ++signal)
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal));
  EXPECT_EQ(std::signal(SIGTERM, SIG_DFL), SIG_IGN);
  for (const int signal : {SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD})
    EXPECT_EQ(std::signal(signal, SIG_DFL), SIG_DFL) << signal;
}

}  // namespace
}  // namespace flopmark
