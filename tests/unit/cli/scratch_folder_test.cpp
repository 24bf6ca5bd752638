#include <signal.h>

#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ScratchFolderTest : public CliTest {
 protected:
  std::filesystem::path scratch() const { return folder_ / "scratch"; }
  /// The run's own scratch folder; empty if there is none.
  std::vector<std::filesystem::path> scratch_folders() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(scratch())) found.push_back(entry.path());
    return found;
  }
};

TEST_F(ScratchFolderTest, WhatAKilledRunLeftIsRemovedByTheNext) {
  testing::RunningProgram program(FLOPMARK_PROGRAM, options({"run", "tiny.json"}, "slow"));
  ASSERT_TRUE(program.wait_for_error_text("timed")) << program.error_so_far();
  ::kill(program.pid(), SIGKILL);
  program.wait();
  ASSERT_EQ(scratch_folders().size(), 1u);
  EXPECT_EQ(flopmark({"run", "tiny.json", "--quiet"}).exit_code, 0);
  EXPECT_THAT(scratch_folders(), IsEmpty());
}

TEST_F(ScratchFolderTest, ALivingRunsFolderAndOtherFilesAreLeftAlone) {
  testing::RunningProgram living(FLOPMARK_PROGRAM, options({"run", "tiny.json"}, "slow"));
  ASSERT_TRUE(living.wait_for_error_text("timed")) << living.error_so_far();
  const auto own = scratch_folders();
  ASSERT_EQ(own.size(), 1u);
  const std::vector<std::string> others{"flopmark-run-notes", "flopmark-run-12-abc", "flopmark-run--abcdef",
                                        "flopmark-run-1x-abcdef", "flopmark-cli-12-abcdef"};
  for (const std::string& other : others) std::filesystem::create_directories(scratch() / other);
  std::filesystem::create_directory_symlink(work_, scratch() / "flopmark-run-12-abcdef");
  std::filesystem::create_directories(scratch() / "flopmark-run-13-abcdef" / "deeper");
  EXPECT_EQ(flopmark({"run", "tiny.json", "--quiet"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(scratch() / "flopmark-run-13-abcdef"));
  EXPECT_TRUE(std::filesystem::exists(own.front()));
  EXPECT_TRUE(std::filesystem::exists(work_ / "tiny.json"));
  ::kill(living.pid(), SIGINT);
  EXPECT_EQ(living.wait().exit_code, 130);
  EXPECT_EQ(scratch_folders().size(), others.size() + 1);
  for (const auto& left : scratch_folders()) std::filesystem::remove(left);
}

TEST_F(ScratchFolderTest, NoRoomForTheSamplesIsToldBeforeTraining) {
  // A size limit stands for a full disk, which not everybody may make.
  const auto result = testing::run_program(
      "bash",
      options({"-c", "trap '' XFSZ; ulimit -f 64; exec '" FLOPMARK_PROGRAM "' run tiny.json --quiet"}));
  EXPECT_EQ(result.exit_code, 200) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("bytes of samples in " + scratch().string() + ": File too large; set TMPDIR"));
  EXPECT_THAT(files("results"), IsEmpty());
}

TEST_F(ScratchFolderTest, AFolderThatCannotBeWrittenIsToldBeforeTraining) {
  testing::ProgramOptions nowhere = options({"run", "tiny.json", "--quiet"});
  nowhere.environment["TMPDIR"] = "/proc/1";
  const auto result = testing::run_program(FLOPMARK_PROGRAM, nowhere);
  EXPECT_EQ(result.exit_code, 200) << result.err;
  EXPECT_THAT(result.err, HasSubstr("cannot make a scratch folder in /proc/1: "));
  EXPECT_THAT(result.err, HasSubstr("set TMPDIR"));
  EXPECT_THAT(files("results"), IsEmpty());
}

}  // namespace
}  // namespace flopmark
