#include "cli/machine_turn.h"

#include <signal.h>

#include <chrono>
#include <thread>

#include "launch/file_lock.h"
#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;

class MachineTurnTest : public CliTest {
 protected:
  testing::ProgramOptions with_lock(std::vector<std::string> arguments) const {
    testing::ProgramOptions with = options(std::move(arguments));
    with.environment["FLOPMARK_LOCK"] = (folder_ / "lock").string();
    with.environment["FAKE_PID_FILE"] = (folder_ / "pids").string();
    return with;
  }
  bool a_worker_was_started() const { return std::filesystem::exists(folder_ / "pids"); }
};

const std::vector<std::vector<std::string>> kMeasuring = {
    {"run", "tiny.json", "--quiet"}, {"ab", "tiny.json", "--a.set", "train.seed=1", "--quiet"}};

TEST_F(MachineTurnTest, NothingIsMeasuredWhileAnotherHoldsTheFile) {
  for (const auto& arguments : kMeasuring) {
    auto held = FileLock::take(folder_ / "lock");
    ASSERT_TRUE(held.has_value());
    testing::RunningProgram program(FLOPMARK_PROGRAM, with_lock(arguments));
    ASSERT_TRUE(program.wait_for_error_text("(FLOPMARK_LOCK) is free")) << program.error_so_far();
    EXPECT_FALSE(a_worker_was_started()) << arguments[0];
    held.reset();
    EXPECT_EQ(program.wait().exit_code, 0) << arguments[0];
    EXPECT_TRUE(a_worker_was_started()) << arguments[0];
    std::filesystem::remove(folder_ / "pids");
  }
}

TEST_F(MachineTurnTest, ASignalEndsTheWait) {
  for (const auto& arguments : kMeasuring) {
    const auto held = FileLock::take(folder_ / "lock");
    testing::RunningProgram program(FLOPMARK_PROGRAM, with_lock(arguments));
    ASSERT_TRUE(program.wait_for_error_text("(FLOPMARK_LOCK) is free")) << program.error_so_far();
    ::kill(program.pid(), SIGINT);
    EXPECT_EQ(program.wait().exit_code, 130) << arguments[0];
    EXPECT_FALSE(a_worker_was_started()) << arguments[0];
  }
}

// The first pair waits longer than the budget is; the others must still be measured.
TEST_F(MachineTurnTest, TheWaitIsNoPartOfABudget) {
  auto held = FileLock::take(folder_ / "lock");
  ASSERT_TRUE(held.has_value());
  const auto begun = std::chrono::steady_clock::now();
  testing::RunningProgram program(
      FLOPMARK_PROGRAM, with_lock({"ab", "tiny.json", "--a.set", "train.seed=1", "--quiet", "--budget", "4s",
                                   "--format", "json"}));
  ASSERT_TRUE(program.wait_for_error_text("(FLOPMARK_LOCK) is free")) << program.error_so_far();
  std::this_thread::sleep_until(begun + std::chrono::milliseconds(4500));
  held.reset();
  const auto result = program.wait();
  EXPECT_GE(nlohmann::json::parse(result.out).at("pairs").size(), 2U) << result.err;
}

/// One of a launcher's two ranks; fake workers do not meet.
class RanksTurnTest : public MachineTurnTest {
 protected:
  testing::ProgramOptions rank(int rank, int local_ranks) const {
    testing::ProgramOptions with = with_lock({"run", "tiny.json", "--quiet"});
    with.environment.insert({{"RANK", std::to_string(rank)},
                             {"WORLD_SIZE", "2"},
                             {"LOCAL_RANK", local_ranks == 1 ? "0" : std::to_string(rank)},
                             {"LOCAL_WORLD_SIZE", std::to_string(local_ranks)},
                             {"MASTER_ADDR", "127.0.0.1"},
                             {"MASTER_PORT", "4711"}});
    return with;
  }
};

TEST_F(RanksTurnTest, AllRanksOfALauncherWaitForOthersAndNotForEachOther) {
  auto held = FileLock::take(folder_ / "lock");
  ASSERT_TRUE(held.has_value());
  testing::RunningProgram first(FLOPMARK_PROGRAM, rank(0, 2));
  testing::RunningProgram second(FLOPMARK_PROGRAM, rank(1, 2));
  ASSERT_TRUE(first.wait_for_error_text("(FLOPMARK_LOCK) is free")) << first.error_so_far();
  EXPECT_FALSE(a_worker_was_started());
  held.reset();
  const auto shared = FileLock::wait(
      folder_ / "lock", {[] { return false; }, [] {}, FileLock::Kind::shared});  // as another rank holds it
  EXPECT_EQ(first.wait().exit_code, 0);
  const auto result = second.wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
}

TEST_F(RanksTurnTest, OfSeveralHostsNoneWaits) {
  const auto held = FileLock::take(folder_ / "lock");
  const auto first = testing::run_program(FLOPMARK_PROGRAM, rank(0, 1));
  EXPECT_EQ(first.exit_code, 0);
  const std::string note = "FLOPMARK_LOCK is not waited for: this launcher's ranks are on several hosts";
  EXPECT_EQ(first.err.find(note), first.err.rfind(note)) << "once";
  EXPECT_THAT(first.err, HasSubstr(note));
  const auto second = testing::run_program(FLOPMARK_PROGRAM, rank(1, 1));
  EXPECT_EQ(second.exit_code, 0);
  EXPECT_EQ(second.err, "");
}

TEST_F(MachineTurnTest, AFileThatCannotBeWrittenIsAMistake) {
  testing::ProgramOptions with = with_lock(kMeasuring[0]);
  with.environment["FLOPMARK_LOCK"] = (folder_ / "none" / "lock").string();
  const auto result = testing::run_program(FLOPMARK_PROGRAM, with);
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_THAT(result.err, HasSubstr("none/lock"));
}

}  // namespace
}  // namespace flopmark
