#include "launch/lock_step.h"

#include <gmock/gmock.h>

#include <set>
#include <stdexcept>

#include "launch_fixture.h"

namespace flopmark {
namespace {

using testing::Each;
using testing::HasSubstr;
using Status = LaunchOutcome::Status;

class LockStepTest : public LaunchTest {
 protected:
  /// A fake that behaves as `mode` of tests/fakes/fake_worker_turns.h, with 10 ms a step.
  LockStepSide side(const char* name, const char* mode) const {
    LockStepSide side{request("ok"), {}};
    side.environment = {{"FAKE_TURNS", mode},
                        {"FAKE_NAME", name},
                        {"FAKE_TURN_LOG", log_file().string()},
                        {"FAKE_STEP_S", "0.01"}};
    return side;
  }
  LockStepOutcome pair(const char* mode_a, const char* mode_b) {
    return run_lock_step(side("a", mode_a), side("b", mode_b), options_, sink_);
  }
  std::filesystem::path log_file() const { return scratch_ / "turns"; }
  std::vector<std::string> log() const {
    std::ifstream file(log_file());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  /// One side fails as told, wherever it sits, the other is stopped for it, and nobody is left.
  Failure failure_of(const char* mode) {
    const LockStepOutcome first = pair(mode, "ok");
    const LockStepOutcome second = pair("ok", mode);
    for (const auto& [bad, good] : {std::pair(&first.a, &first.b), {&second.b, &second.a}}) {
      EXPECT_EQ(bad->status, Status::failed) << mode;
      EXPECT_TRUE(bad->failure) << mode;
      EXPECT_EQ(good->status, Status::interrupted) << mode;
      EXPECT_EQ(good->signal, 0) << mode;
      EXPECT_FALSE(good->failure) << mode;
      EXPECT_TRUE(good->samples) << mode << ": not asked to stop";
      if (good->samples) {
        EXPECT_EQ(good->samples->status, "incomplete");
      }
    }
    expect_nothing_left();
    if (!first.a.failure || !second.b.failure) return {};
    EXPECT_EQ(first.a.failure->kind, second.b.failure->kind);
    return *first.a.failure;
  }

  LockStepOptions options_{.steps = 50, .least_turn_s = 0.05, .seed = 3};
};

TEST_F(LockStepTest, BothTakeEquallyManyTurnsInTheSeedsOrder) {
  const LockStepOutcome outcome = pair("ok", "ok");
  EXPECT_EQ(outcome.steps_per_turn, 5);
  ASSERT_EQ(outcome.a_first.size(), 10U);
  for (const LaunchOutcome* one : {&outcome.a, &outcome.b}) {
    ASSERT_EQ(one->status, Status::ok);
    ASSERT_EQ(one->samples->turns.size(), 10U);
    for (const TurnSamples& turn : one->samples->turns) {
      EXPECT_EQ(turn.steps, 5);
      EXPECT_EQ(turn.queue_depth, 4);
    }
    EXPECT_EQ(one->samples->timed.steps, 50);
  }
  std::vector<std::string> expected;
  for (const bool a_first : outcome.a_first) {
    for (const char* name : {a_first ? "a" : "b", a_first ? "b" : "a"}) {
      expected.push_back(std::string(name) + " begins 5");
      expected.push_back(std::string(name) + " ends");
    }
  }
  const std::vector<std::string> lines = log();
  ASSERT_EQ(lines.size(), 4 + expected.size() + 2);
  EXPECT_EQ(std::vector(lines.begin() + 4, lines.end() - 2), expected) << "never both at a time";
  EXPECT_THAT(std::vector(lines.begin() + 2, lines.begin() + 4), Each(HasSubstr("warms up")));
  EXPECT_THAT(std::vector(lines.end() - 2, lines.end()), Each(HasSubstr("is told to end")));
  expect_nothing_left();
}

TEST_F(LockStepTest, TheOrderIsTheSeedsOwn) {
  const auto first = pair("ok", "ok").a_first;
  EXPECT_EQ(pair("ok", "ok").a_first, first);
  options_.seed = 4;
  EXPECT_NE(pair("ok", "ok").a_first, first);
}

TEST_F(LockStepTest, EitherSideMayStartUpFirst) {
  std::set<std::string> first;
  options_.steps = 5;
  for (options_.seed = 1; options_.seed <= 12 && first.size() < 2; ++options_.seed) {
    std::filesystem::remove(log_file());
    pair("ok", "ok");
    first.insert(log().at(2));
  }
  EXPECT_EQ(first, (std::set<std::string>{"a warms up", "b warms up"}));
}

TEST_F(LockStepTest, TheFasterSideGroupsTheSteps) {
  LockStepSide fast = side("b", "ok");
  fast.environment.emplace_back("FAKE_STEP_S", "0.004");
  const LockStepOutcome outcome = run_lock_step(side("a", "ok"), fast, options_, sink_);
  EXPECT_EQ(outcome.steps_per_turn, 13);  // of 4 ms
  EXPECT_EQ(outcome.a_first.size(), 4U);
  EXPECT_EQ(outcome.a.samples->timed.steps, 52) << "whole turns";
  EXPECT_EQ(outcome.b.samples->timed.steps, 52);
}

TEST_F(LockStepTest, ThreadsWaitPassivelyUnlessToldOtherwise) {
  LockStepSide told = side("b", "ok");
  told.environment.emplace_back("OMP_WAIT_POLICY", "active");
  const LockStepOutcome outcome = run_lock_step(side("a", "ok"), told, options_, sink_);
  const auto& a = outcome.a.samples->environment.variables;
  EXPECT_EQ(a.at("OMP_WAIT_POLICY"), "passive");
  EXPECT_EQ(a.at("GOMP_SPINCOUNT"), "0");
  EXPECT_EQ(a.at("KMP_BLOCKTIME"), "0");
  EXPECT_EQ(outcome.b.samples->environment.variables.at("OMP_WAIT_POLICY"), "active");
}

TEST_F(LockStepTest, ShowsEachTurnOnce) {
  pair("ok", "ok");
  std::vector<int64_t> turns;
  for (const ProgressUpdate& update : sink_.updates) {
    if (update.phase != "turns") continue;
    EXPECT_EQ(update.steps, 20);
    turns.push_back(update.step);
  }
  ASSERT_EQ(turns.size(), 20U);
  for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(turns[static_cast<size_t>(i)], i + 1);
}

TEST_F(LockStepTest, CrashInATurnNamesPhaseAndStep) {
  const Failure failure = failure_of("crash");
  EXPECT_EQ(failure.kind, "crash");
  EXPECT_EQ(failure.phase, "timed");
  EXPECT_EQ(failure.step, 11);
  EXPECT_EQ(failure.text,
            "worker crashed (SIGSEGV) in phase timed, step 11 of 50; its last line of output:\n"
            "  model.cpp: about to read past the end");
}

TEST_F(LockStepTest, KilledInItsTurnOrWhileItWaits) {
  const Failure in_turn = failure_of("kill");
  EXPECT_EQ(in_turn.kind, "killed");
  EXPECT_THAT(in_turn.text, HasSubstr("in phase timed, step 11 of 50"));
  EXPECT_EQ(failure_of("die_waiting").kind, "killed");
}

TEST_F(LockStepTest, OutOfMemoryIsThatSidesFailure) {
  const Failure warm = failure_of("oom_warmup");
  EXPECT_EQ(warm.kind, "out_of_memory");
  EXPECT_EQ(warm.phase, "warmup");
  const Failure timed = failure_of("oom");
  EXPECT_EQ(timed.kind, "out_of_memory");
  EXPECT_EQ(timed.phase, "timed");
  EXPECT_EQ(timed.step, 7);
}

TEST_F(LockStepTest, NanInATurn) {
  EXPECT_EQ(failure_of("nan").kind, "nan_loss");
}

TEST_F(LockStepTest, FailureAfterTheTurnsLeavesTheOtherWhole) {
  const LockStepOutcome outcome = pair("oom_end", "ok");
  EXPECT_EQ(outcome.a.failure.value().kind, "out_of_memory");
  EXPECT_EQ(outcome.b.status, Status::ok);
  expect_nothing_left();
}

TEST_F(LockStepTest, NonsenseIsPassedOverAndBrokenRulesAreNot) {
  const LockStepOutcome outcome = pair("nonsense", "ok");
  EXPECT_EQ(outcome.a.status, Status::ok);
  EXPECT_EQ(outcome.b.status, Status::ok);
  EXPECT_THAT(failure_of("short_turn").text, HasSubstr("worker took 6 steps in a turn of 5"));
  EXPECT_THAT(failure_of("two_turns").text, HasSubstr("worker took a turn that was not its own"));
  expect_nothing_left();
}

TEST_F(LockStepTest, SamplesMustHoldTheTurnsTaken) {
  const LockStepOutcome outcome = pair("ok", "forgets");
  EXPECT_EQ(outcome.a.status, Status::ok);
  EXPECT_EQ(outcome.b.status, Status::failed);
  EXPECT_THAT(outcome.b.failure.value().text, HasSubstr("hold 9 turns, not the 10 it took"));
  EXPECT_EQ(failure_of("early").text, "worker ended of its own accord after 2 turns");
}

TEST_F(LockStepTest, AHangIsTheHangingSidesTimeout) {
  for (const char* mode : {"hang", "never_ready"}) {
    LockStepSide hangs = side("a", mode), waits = side("b", "ok");
    hangs.request.timeout = std::chrono::seconds(1);
    const LockStepOutcome outcome = run_lock_step(hangs, waits, options_, sink_);
    EXPECT_EQ(outcome.a.failure.value().kind, "timeout") << mode;
    EXPECT_EQ(outcome.b.status, Status::interrupted) << mode;
    EXPECT_EQ(outcome.b.signal, 0);
    expect_nothing_left();
  }
}

TEST_F(LockStepTest, WaitingCostsNoTime) {
  LockStepSide slow = side("a", "slow"), quick = side("b", "ok");
  quick.request.timeout = std::chrono::seconds(2);  // its own work takes 20 ms, the pair's 2.4 s
  const LockStepOutcome outcome = run_lock_step(slow, quick, options_, sink_);
  EXPECT_EQ(outcome.a.status, Status::ok);
  EXPECT_EQ(outcome.b.status, Status::ok);
}

TEST_F(LockStepTest, ASignalStopsBoth) {
  for (const int signal : {SIGINT, SIGTERM}) {
    sink_.stops = 0;
    sink_.on_progress = [=](const ProgressUpdate& update) {
      if (update.phase == "turns" && update.step == 8) std::raise(signal);
    };
    const LockStepOutcome outcome = pair("slow", "slow");
    for (const LaunchOutcome* one : {&outcome.a, &outcome.b}) {
      EXPECT_EQ(one->status, Status::interrupted);
      EXPECT_EQ(one->signal, signal);
      ASSERT_TRUE(one->samples);
      EXPECT_EQ(one->samples->status, "incomplete");
      EXPECT_GE(one->samples->turns.size(), 3U);
      EXPECT_LE(one->samples->turns.size(), 4U);
    }
    EXPECT_EQ(sink_.stops, 1);
    expect_nothing_left();
  }
}

TEST_F(LockStepTest, DeafOnesAreKilledAfterTheGrace) {
  sink_.on_progress = [](const ProgressUpdate& update) {
    if (update.phase == "turns" && update.step == 5) std::raise(SIGINT);
  };
  LockStepSide a = side("a", "hang"), b = side("b", "hang");
  a.request.stop_grace = b.request.stop_grace = std::chrono::milliseconds(300);
  const LockStepOutcome outcome = run_lock_step(a, b, options_, sink_);
  EXPECT_EQ(outcome.a.status, Status::interrupted);
  EXPECT_EQ(outcome.b.status, Status::interrupted);
  expect_nothing_left();
}

TEST_F(LockStepTest, UsersMistakesAndOtherBuildsAreErrors) {
  for (const bool is_a : {true, false}) {
    try {
      pair(is_a ? "refuse" : "ok", is_a ? "ok" : "refuse");
      ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_STREQ(error.what(), "corpus.bin: token 300 is not below 256");
    }
    expect_nothing_left();
    LockStepSide other = side("b", "ok");
    other.request.worker = "/bin/true";
    EXPECT_THROW(is_a ? run_lock_step(other, side("b", "ok"), options_, sink_)
                      : run_lock_step(side("a", "ok"), other, options_, sink_),
                 Error);
    expect_nothing_left();
  }
}

TEST_F(LockStepTest, AThrowingSinkLeavesNothingBehind) {
  sink_.on_progress = [](const ProgressUpdate& update) {
    if (update.phase == "turns") throw std::runtime_error("the terminal is gone");
  };
  EXPECT_THROW(pair("ok", "ok"), std::runtime_error);
  expect_nothing_left();
}

TEST_F(LockStepTest, RefusesNothingToDo) {
  options_.steps = 0;
  EXPECT_THROW(pair("ok", "ok"), std::invalid_argument);
  options_ = {.steps = 5, .least_turn_s = 0};
  EXPECT_THROW(pair("ok", "ok"), std::invalid_argument);
}

}  // namespace
}  // namespace flopmark
