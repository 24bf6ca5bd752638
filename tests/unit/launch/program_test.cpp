#include "launch/program.h"

#include <gmock/gmock.h>

#include "flopmark/error.h"
#include "unit/launch/launch_fixture.h"
#include "unit/results/scratch_tree.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;

class RunProgram : public ::testing::Test {
 protected:
  Program shell(const std::string& command) const {
    Program program;
    program.command = {"/bin/sh", "-c", command};
    program.folder = folder_.root();
    program.log = folder_.root() / "log";
    return program;
  }
  std::string log() const { return file_text(folder_.root() / "log"); }

  ScratchFolder folder_;
};

TEST_F(RunProgram, RunsInItsFolderAndKeepsItsOutput) {
  const ProgramEnd end = run_program(shell("pwd; echo more >&2"));
  EXPECT_TRUE(end.ok());
  EXPECT_EQ(log(), folder_.root().string() + "\nmore\n");
}

TEST_F(RunProgram, TellsHowItEnded) {
  EXPECT_EQ(run_program(shell("exit 3")).code, 3);
  EXPECT_EQ(run_program(shell("kill -SEGV $$")).signal, SIGSEGV);
  Program none = shell("");
  none.command = {"no-such-program"};
  EXPECT_EQ(run_program(none).code, 127);
  EXPECT_THAT(log(), HasSubstr("cannot be started: No such file"));
  none.log = folder_.root() / "missing" / "log";
  EXPECT_THROW(run_program(none), Error);
}

TEST_F(RunProgram, HasNoTerminalNoInputAndAGroupOfItsOwn) {
  // The sixth field of stat is the session.
  EXPECT_TRUE(
      run_program(shell("[ ! -t 0 ] && ! read line && set -- $(cat /proc/$$/stat) && test $6 = $$")).ok());
}

TEST_F(RunProgram, ChangesItsVariablesOnly) {
  ::setenv("FLOPMARK_TEST_KEPT", "kept", 1);
  ::setenv("FLOPMARK_TEST_GONE", "x", 1);
  Program program = shell("echo $FLOPMARK_TEST_KEPT/$FLOPMARK_TEST_GONE/$FLOPMARK_TEST_NEW");
  program.set = {{"FLOPMARK_TEST_NEW", "new"}};
  program.unset = {"FLOPMARK_TEST_GONE"};
  run_program(program);
  EXPECT_EQ(log(), "kept//new\n");
  ::unsetenv("FLOPMARK_TEST_KEPT");
  ::unsetenv("FLOPMARK_TEST_GONE");
}

TEST_F(RunProgram, AnInterruptionKillsTheWholeGroup) {
  Program program = shell("sleep 1000 & echo $! > child; wait");
  program.interrupted = [&] { return !file_text(folder_.root() / "child").empty(); };
  EXPECT_TRUE(run_program(program).interrupted);
  const pid_t child = std::stoi(file_text(folder_.root() / "child"));
  EXPECT_TRUE(holds_soon([&] { return is_gone(child); }));
}

TEST_F(RunProgram, ATimeThatIsUpKillsTheWholeGroup) {
  Program program = shell("sleep 1000 & echo $! > child; wait");
  program.timeout_s = 1;
  const ProgramEnd end = run_program(program);
  EXPECT_TRUE(end.timed_out);
  EXPECT_FALSE(end.ok());
  const pid_t child = std::stoi(file_text(folder_.root() / "child"));
  EXPECT_TRUE(holds_soon([&] { return is_gone(child); }));
  program.command = {"true"};
  EXPECT_TRUE(run_program(program).ok());
}

TEST_F(RunProgram, WhatItLeavesRunningIsEndedToo) {
  EXPECT_TRUE(run_program(shell("sleep 1000 & echo $! > child")).ok());
  const pid_t child = std::stoi(file_text(folder_.root() / "child"));
  EXPECT_TRUE(holds_soon([&] { return is_gone(child); }));
}

}  // namespace
}  // namespace flopmark
