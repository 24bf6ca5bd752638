#include "cli/measured_run.h"

#include <signal.h>

#include <algorithm>

#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct FailureCase {
  std::string mode, kind;
};

class MeasuredRunTest : public CliTest {
 protected:
  testing::ProgramResult interrupt(int signal, const std::string& until) const {
    testing::RunningProgram program(FLOPMARK_PROGRAM, options({"run", "tiny.json"}, "slow"));
    EXPECT_TRUE(program.wait_for_error_text(until)) << program.error_so_far();
    ::kill(program.pid(), signal);
    return program.wait();
  }
};

// Public cases A21 and A45.
TEST_F(MeasuredRunTest, AFailedLaunchIs125WithPhaseStepAndARecord) {
  for (const FailureCase& failure : std::vector<FailureCase>{{"oom", "out_of_memory"},
                                                             {"nan", "nan_loss"},
                                                             {"crash", "crash"},
                                                             {"kill", "killed"},
                                                             {"failed_samples", "nan_loss"}}) {
    std::filesystem::remove_all(work_ / "results");
    const auto result = flopmark(
        {"run", "tiny.json", "--quiet", "--save-baseline", "--force", "--reason", "a test"}, failure.mode);
    EXPECT_EQ(result.exit_code, 125) << failure.mode;
    EXPECT_EQ(result.out, "") << failure.mode;
    EXPECT_THAT(result.err, HasSubstr("flopmark: error: tiny: "));
    EXPECT_THAT(result.err, HasSubstr("timed")) << failure.mode;
    EXPECT_THAT(result.err, HasSubstr("step 7")) << failure.mode;
    EXPECT_THAT(files("baselines"), IsEmpty()) << failure.mode;
    const nlohmann::json record = only_record();
    EXPECT_EQ(record.at("status"), "failed") << failure.mode;
    EXPECT_EQ(record.at("failure").at("kind"), failure.kind);
    EXPECT_EQ(record.at("failure").at("step"), 7) << failure.mode;
  }
}

TEST_F(MeasuredRunTest, TheFirstFailureEndsTheRun) {
  testing::ProgramOptions counted = options({"run", "tiny.json", "--quiet"}, "oom");
  counted.environment["FAKE_PID_FILE"] = (folder_ / "pids").string();
  EXPECT_EQ(testing::run_program(FLOPMARK_PROGRAM, counted).exit_code, 125);
  const std::string pids = read(folder_ / "pids");
  EXPECT_EQ(std::count(pids.begin(), pids.end(), '\n'), 1);
}

TEST_F(MeasuredRunTest, EachLaunchIsAFreshProcess) {
  testing::ProgramOptions counted = options({"run", "tiny.json", "--quiet"});
  counted.environment["FAKE_PID_FILE"] = (folder_ / "pids").string();
  EXPECT_EQ(testing::run_program(FLOPMARK_PROGRAM, counted).exit_code, 0);
  std::istringstream pids(read(folder_ / "pids"));
  int first = 0;
  int second = 0;
  ASSERT_TRUE(pids >> first >> second);
  EXPECT_NE(first, second);
}

TEST_F(MeasuredRunTest, AFailedRunLeavesThePresentBaselineAlone) {
  make_repository();
  ASSERT_EQ(flopmark({"run", "tiny.json", "--quiet", "--save-baseline"}).exit_code, 0);
  ASSERT_EQ(baselines().size(), 1u);
  const std::filesystem::path baseline = baselines().front();
  const std::string before = read(baseline);
  EXPECT_EQ(flopmark({"run", "tiny.json", "--quiet", "--save-baseline"}, "oom").exit_code, 125);
  EXPECT_EQ(read(baseline), before);
  EXPECT_EQ(baselines().size(), 1u);
}

TEST_F(MeasuredRunTest, AHangIsStoppedAtTheTimeout) {
  const auto result = flopmark({"run", "tiny.json", "--quiet", "--set", "measure.timeout_s=1"}, "hang_deaf");
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_EQ(only_record().at("failure").at("kind"), "timeout");
}

TEST_F(MeasuredRunTest, WhatTheWorkerRefusesIs200AndNothingIsWritten) {
  const auto result = flopmark({"run", "tiny.json", "--quiet"}, "error200");
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_THAT(result.err, HasSubstr("token 300 is not below 256"));
  EXPECT_THAT(files("results"), IsEmpty());
}

TEST_F(MeasuredRunTest, WhatIsNoWorkerIs200AndNothingIsWritten) {
  write("text", "exit 0");
  std::vector<std::string> workers{".", "text", "missing", "/bin/true", "/bin/false", "/bin/cat"};
  for (const std::string body : {"echo text", "echo '{}' >&3", "exit 125"}) {
    workers.push_back("script-" + std::to_string(workers.size()));
    write(workers.back(), "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(work_ / workers.back(), std::filesystem::perms::owner_all);
  }
  for (const std::string& worker : workers) {
    const auto result = flopmark({"run", "tiny.json", "--quiet", "--worker", worker});
    EXPECT_EQ(result.exit_code, 200) << worker << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr(worker));
    EXPECT_THAT(files("results"), IsEmpty()) << worker;
  }
}

TEST_F(MeasuredRunTest, OneFailingConfigDoesNotLoseTheOthers) {
  write("other.json", config());
  EXPECT_EQ(flopmark({"run", "tiny.json", "other.json", "--quiet"}, "oom").exit_code, 125);
  EXPECT_EQ(files("results/tiny").size(), 1u);
  EXPECT_EQ(files("results/other").size(), 1u);
}

TEST_F(MeasuredRunTest, SignalsKeepWhatWasMeasuredAndExit130) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    std::filesystem::remove_all(work_ / "results");
    const auto result = interrupt(signal, "timed");
    EXPECT_EQ(result.exit_code, 130) << result.err;
    EXPECT_THAT(result.out, HasSubstr("\nINCOMPLETE: ")) << result.err;
    EXPECT_THAT(result.out, Not(HasSubstr("save one with")));
    EXPECT_EQ(only_record().at("status"), "incomplete");
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "scratch")) << "scratch left";
  }
}

TEST_F(MeasuredRunTest, InterruptedBeforeAnyStepNothingIsWritten) {
  testing::RunningProgram program(FLOPMARK_PROGRAM, options({"run", "tiny.json"}, "hang_deaf"));
  ASSERT_TRUE(program.wait_for_error_text("timed")) << program.error_so_far();
  ::kill(program.pid(), SIGINT);
  ::kill(program.pid(), SIGINT);
  const auto result = program.wait();
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_THAT(result.err, HasSubstr("interrupted before any step was measured"));
  EXPECT_THAT(files("results"), IsEmpty());
}

}  // namespace
}  // namespace flopmark
