#include "cli/run_output.h"

#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;

class RunOutputTest : public CliTest {};

TEST_F(RunOutputTest, AFullStandardOutputIsACleanErrorAndTheRecordIsKept) {
  testing::ProgramOptions full = options({"run", "tiny.json", "--quiet"});
  full.stdout_file = "/dev/full";
  const auto result = testing::run_program(FLOPMARK_PROGRAM, full);
  EXPECT_EQ(result.exit_code, 202);
  EXPECT_EQ(only_record().at("status"), "ok");
  EXPECT_EQ(
      result.err,
      "flopmark: error: cannot write to standard output: No space left on device; the output is not whole. "
      "The run's record is written: see it with\n  flopmark baseline show " +
          files("results").front().lexically_relative(work_).string() + "\n");
}

TEST_F(RunOutputTest, AClosedStandardOutputIsACleanErrorAndNoFileTakesItsPlace) {
  testing::ProgramOptions closed = options({"run", "tiny.json", "--quiet"});
  closed.close_stdout = true;
  const auto result = testing::run_program(FLOPMARK_PROGRAM, closed);
  EXPECT_EQ(result.exit_code, 202);
  EXPECT_THAT(result.err, HasSubstr("cannot write to standard output: Bad file descriptor"));
  EXPECT_THAT(result.err, HasSubstr("flopmark baseline show results/tiny/"));
  EXPECT_EQ(only_record().at("status"), "ok");
}

TEST_F(RunOutputTest, HelpToAFullDiskIsACleanErrorToo) {
  testing::ProgramOptions full = options({"--help"});
  full.stdout_file = "/dev/full";
  EXPECT_EQ(testing::run_program(FLOPMARK_PROGRAM, full).exit_code, 202);
}

TEST_F(RunOutputTest, ARecordThatCannotBeWrittenIs202) {
  testing::RunningProgram program(
      FLOPMARK_PROGRAM,
      options({"run", "tiny.json", "--output", "out/record.json", "--set", "measure.repeats=1"}, "slow"));
  ASSERT_TRUE(program.wait_for_error_text("timed")) << program.error_so_far();
  write("out", "a file now");
  const auto result = program.wait();
  EXPECT_EQ(result.exit_code, 202) << result.err;
  EXPECT_THAT(result.err, HasSubstr("record.json"));
  EXPECT_THAT(result.out, HasSubstr("Samples/s"));  // what was measured is shown all the same
}

TEST_F(RunOutputTest, ADamagedBaselineIsToldOfAndStopsNothing) {
  make_repository();
  ASSERT_EQ(flopmark({"run", "tiny.json", "--quiet", "--save-baseline"}).exit_code, 0);
  ASSERT_EQ(baselines().size(), 1u);
  std::filesystem::resize_file(baselines().front(), 100);
  const auto result = flopmark({"run", "tiny.json", "--quiet"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("baseline on file, but unreadable:"));
}

}  // namespace
}  // namespace flopmark
