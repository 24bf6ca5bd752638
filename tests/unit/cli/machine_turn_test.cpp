#include "cli/machine_turn.h"

#include <signal.h>

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

TEST_F(MachineTurnTest, AFileThatCannotBeWrittenIsAMistake) {
  testing::ProgramOptions with = with_lock(kMeasuring[0]);
  with.environment["FLOPMARK_LOCK"] = (folder_ / "none" / "lock").string();
  const auto result = testing::run_program(FLOPMARK_PROGRAM, with);
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_THAT(result.err, HasSubstr("none/lock"));
}

}  // namespace
}  // namespace flopmark
