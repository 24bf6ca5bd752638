// Two real workers in lock-step: equal work on both sides, the waiting one idle, and every way one can fail.
#include <gmock/gmock.h>

#include <csignal>
#include <numeric>
#include <thread>

#include "config/run_config.h"
#include "integration/tiny_run.h"
#include "launch/lock_step.h"

namespace flopmark::testing {
namespace {

using ::testing::HasSubstr;
using Status = LaunchOutcome::Status;

struct PairSink : ProgressSink {
  void launch_started(int64_t, int64_t) override {}
  void progress(const ProgressUpdate& update) override {
    if (update.phase == "turns" && on_turn) on_turn(update.step);
  }
  void launch_ended() override {}

  std::function<void(int64_t turn)> on_turn;  ///< both wait
};

class RealPair : public TinyRun {
 protected:
  LockStepSide side(const std::string& fault = "", std::vector<std::string> sets = {}) const {
    sets.insert(sets.begin(), {"measure.warmup_min_steps=12", "measure.warmup_max_steps=12"});
    LockStepSide side;
    side.request.worker = fault.empty() ? FLOPMARK_REAL_WORKER : FLOPMARK_FAULTY_WORKER;
    side.request.config = to_json(load_config(folder_ / "tiny.json", sets));
    side.request.scratch = folder_;
    side.request.timeout = std::chrono::seconds(120);
    if (!fault.empty()) side.environment = {{"FLOPMARK_FAULT", fault}};
    return side;
  }
  LockStepOutcome run_pair(const LockStepSide& a, const LockStepSide& b) {
    return run_lock_step(a, b, options_, sink_);
  }

  LockStepOptions options_{.steps = 12, .least_turn_s = 1e-6, .seed = 1};
  PairSink sink_;
};

void expect_turns_add_up(const LaunchOutcome& outcome, int64_t turns, int64_t steps_per_turn) {
  ASSERT_EQ(outcome.status, Status::ok) << (outcome.failure ? outcome.failure->text : "");
  const LaunchSamples& samples = *outcome.samples;
  ASSERT_EQ(std::ssize(samples.turns), turns);
  double wall_s = 0;
  for (const TurnSamples& turn : samples.turns) {
    EXPECT_EQ(turn.steps, steps_per_turn);
    EXPECT_GE(turn.queue_depth.value_or(-1), 0);
    EXPECT_LE(turn.queue_depth.value_or(99), 4);
    wall_s += turn.wall_s;
  }
  const BlockSamples& timed = samples.timed;
  EXPECT_EQ(timed.steps, turns * steps_per_turn);
  EXPECT_EQ(std::ssize(timed.step_s), timed.steps);
  EXPECT_EQ(timed.samples, 2 * timed.steps);
  EXPECT_EQ(timed.tokens, 64 * timed.steps);
  EXPECT_DOUBLE_EQ(timed.wall_s, wall_s);
  const double sum_s = std::accumulate(timed.step_s.begin(), timed.step_s.end(), 0.0);
  EXPECT_NEAR(sum_s, wall_s, 0.02 * wall_s);
  double phases_s = 0;
  for (const auto& phase : timed.phase_s) phases_s = std::accumulate(phase.begin(), phase.end(), phases_s);
  EXPECT_NEAR(phases_s, sum_s, 1e-6);
  ASSERT_TRUE(samples.flops);
  EXPECT_EQ(samples.flops->model_flop(), 44826624);
  ASSERT_TRUE(samples.conditions);
  EXPECT_GE(samples.conditions->samples, turns);
  EXPECT_GE(samples.conditions->duration_s, wall_s);
  EXPECT_TRUE(samples.memory.host_bytes);
  EXPECT_EQ(samples.environment.variables.at("OMP_WAIT_POLICY"), "passive");
}

TEST_F(RealPair, EqualBuildsDoEqualWork) {
  const LockStepOutcome outcome = run_pair(side(), side());
  EXPECT_EQ(outcome.steps_per_turn, 1);
  ASSERT_EQ(outcome.a_first.size(), 12U);
  expect_turns_add_up(outcome.a, 12, 1);
  expect_turns_add_up(outcome.b, 12, 1);
  EXPECT_EQ(outcome.a.samples->timed.losses, outcome.b.samples->timed.losses);
}

TEST_F(RealPair, ShortStepsAreGrouped) {
  options_ = {.steps = 90, .least_turn_s = 0.5, .seed = 2};
  const LockStepOutcome outcome = run_pair(side(), side());
  EXPECT_GT(outcome.steps_per_turn, 1) << "a step of the tiny model takes a few milliseconds";
  const auto turns = std::ssize(outcome.a_first);
  EXPECT_GE(turns * outcome.steps_per_turn, 90);
  EXPECT_LT((turns - 1) * outcome.steps_per_turn, 90);
  expect_turns_add_up(outcome.a, turns, outcome.steps_per_turn);
  expect_turns_add_up(outcome.b, turns, outcome.steps_per_turn);
}

/// The threads of this process's children that run or are ready to run now, whatever else the machine does.
int busy_threads(int& threads) {
  int busy = 0;
  std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  for (pid_t pid = 0; children >> pid;) {
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
      std::ifstream stat(task.path() / "stat");
      std::string text;
      std::getline(stat, text);
      const char state = text.at(text.rfind(')') + 2);
      ++threads;
      busy += state == 'R' ? 1 : 0;
    }
  }
  return busy;
}

TEST_F(RealPair, OneThatWaitsIsBlocked) {
  const LockStepSide threaded = side("", {"measure.threads=2", "data.workers=2"});
  int threads = 0, busy = 0;
  sink_.on_turn = [&](int64_t turn) {
    if (turn != 6) return;
    // Where others starve them, threads that were told something may take long until they block.
    for (int tries = 0; tries < 500 && busy_threads(threads) > 0; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    threads = 0;
    for (int look = 0; look < 20; ++look) {
      busy += busy_threads(threads);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  };
  const LockStepOutcome outcome = run_pair(threaded, threaded);
  EXPECT_EQ(outcome.a.status, Status::ok);
  if (threads == 0) GTEST_SKIP() << "no /proc/self/task/*/children here";
  EXPECT_GE(threads, 20 * 2 * 5) << "main, control, progress and two loader threads each";
  EXPECT_LE(busy, 2) << "of 20 looks at all threads; one that spins is seen 20 times";
}

TEST_F(RealPair, WithoutLoaderWorkersThereIsNoQueue) {
  const LockStepSide plain = side("", {"data.workers=0"});
  const LockStepOutcome outcome = run_pair(plain, plain);
  ASSERT_TRUE(outcome.a.samples);
  for (const TurnSamples& turn : outcome.a.samples->turns) EXPECT_FALSE(turn.queue_depth);
}

TEST_F(RealPair, AFaultIsItsSidesWithPhaseAndStep) {
  struct SideFault {
    const char *fault, *kind, *phase;
    int64_t step;
  };
  for (const SideFault& fault : {SideFault{"crash@timed:7", "crash", "timed", 7},
                                 {"nan@timed:7", "nan_loss", "timed", 7},
                                 {"oom@timed:5", "out_of_memory", "timed", 5},
                                 {"kill@timed:3", "killed", "timed", 3},
                                 {"oom@warmup:2", "out_of_memory", "warmup", 2}}) {
    const LockStepOutcome outcome = run_pair(side(), side(fault.fault));
    EXPECT_EQ(outcome.b.status, Status::failed) << fault.fault;
    ASSERT_TRUE(outcome.b.failure) << fault.fault;
    EXPECT_EQ(outcome.b.failure->kind, fault.kind);
    EXPECT_EQ(outcome.b.failure->phase, fault.phase);
    EXPECT_EQ(outcome.b.failure->step, fault.step);
    EXPECT_EQ(outcome.a.status, Status::interrupted) << fault.fault;
    EXPECT_EQ(outcome.a.signal, 0);
    ASSERT_TRUE(outcome.a.samples) << fault.fault;
    EXPECT_EQ(outcome.a.samples->status, "incomplete");
  }
}

TEST_F(RealPair, AHangInATurnEndsAtItsTimeout) {
  LockStepSide hangs = side("hang@timed:7");
  hangs.request.timeout = std::chrono::seconds(8);
  const LockStepOutcome outcome = run_pair(hangs, side());
  ASSERT_TRUE(outcome.a.failure);
  EXPECT_EQ(outcome.a.failure->kind, "timeout");
  EXPECT_THAT(outcome.a.failure->text, HasSubstr("phase timed, step 7 of 12"));
  EXPECT_EQ(outcome.b.status, Status::interrupted);
}

TEST_F(RealPair, ASignalStopsBothWhereverTheyAre) {
  std::signal(SIGINT, SIG_DFL);
  sink_.on_turn = [](int64_t turn) {
    if (turn == 9) std::raise(SIGINT);
  };
  const LockStepOutcome outcome = run_pair(side(), side());
  for (const LaunchOutcome* one : {&outcome.a, &outcome.b}) {
    EXPECT_EQ(one->status, Status::interrupted);
    EXPECT_EQ(one->signal, SIGINT);
    ASSERT_TRUE(one->samples);
    EXPECT_EQ(one->samples->status, "incomplete");
    EXPECT_GE(one->samples->turns.size(), 4U);
    EXPECT_LT(one->samples->turns.size(), 12U);
  }
}

}  // namespace
}  // namespace flopmark::testing
