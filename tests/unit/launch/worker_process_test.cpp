#include "launch/worker_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include "launch_fixture.h"

namespace flopmark {
namespace {

using testing::HasSubstr;

/// All that `script` writes to its output, and how it ended.
std::string output_of(const std::string& script, ExitStatus& status, const std::string& input = "") {
  WorkerProcess process({"/bin/sh", "-c", script});
  if (!input.empty()) {
    EXPECT_TRUE(process.send(input));
  }
  EXPECT_TRUE(holds_soon([&] { return process.ended(); }));
  status = process.finish();
  return read_available(process.log(), 100000).bytes;
}

TEST(WorkerProcess, ConnectsThePipes) {
  ExitStatus status;
  EXPECT_EQ(output_of("read line; echo got $line; echo to stderr >&2; exit 7", status, "stop\n"),
            "got stop\nto stderr\n");
  EXPECT_EQ(status.code, 7);
  EXPECT_EQ(status.signal, 0);
  WorkerProcess process({"/bin/sh", "-c", "echo progress >&3"});
  ASSERT_TRUE(holds_soon([&] { return process.ended(); }));
  EXPECT_EQ(read_available(process.progress(), 100).bytes, "progress\n");
}

TEST(WorkerProcess, PassesOnNoOtherDescriptorAndNoIgnoredSignal) {
  const FileDescriptor inheritable(::open("/dev/null", O_RDONLY));
  const FileDescriptor high(::fcntl(inheritable.get(), F_DUPFD, 40));
  std::signal(SIGUSR1, SIG_IGN);
  ExitStatus status;
  // ls itself opens one more, to read the folder.
  EXPECT_EQ(output_of("exec ls /proc/self/fd", status), "0\n1\n2\n3\n4\n");
  const std::string signals = output_of("exec grep -E 'SigIgn|SigBlk' /proc/self/status", status);
  EXPECT_EQ(signals, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  std::signal(SIGUSR1, SIG_DFL);
}

TEST(WorkerProcess, AddedVariablesOutweighInheritedOnes) {
  ::setenv("FLOPMARK_TEST_KEPT", "kept", 1);
  ::setenv("FLOPMARK_TEST_OVER", "old", 1);
  WorkerProcess process(
      {"/bin/sh", "-c", "echo $FLOPMARK_TEST_KEPT $FLOPMARK_TEST_OVER $FLOPMARK_TEST_NEW"},
      {{"FLOPMARK_TEST_OVER", "first"}, {"FLOPMARK_TEST_NEW", "a=b"}, {"FLOPMARK_TEST_OVER", "last"}});
  ASSERT_TRUE(holds_soon([&] { return process.ended(); }));
  EXPECT_EQ(read_available(process.log(), 1000).bytes, "kept last a=b\n");
  EXPECT_STREQ(std::getenv("FLOPMARK_TEST_OVER"), "old") << "this process's own";
  ::unsetenv("FLOPMARK_TEST_KEPT");
  ::unsetenv("FLOPMARK_TEST_OVER");
}

TEST(WorkerProcess, HasAGroupOfItsOwn) {
  WorkerProcess process({"/bin/sleep", "1000"});
  EXPECT_EQ(::getpgid(process.pid()), process.pid());
  EXPECT_FALSE(process.ended());
  EXPECT_EQ(process.finish().signal, SIGKILL);
  EXPECT_EQ(process.finish().signal, SIGKILL);
  EXPECT_TRUE(has_no_children());
}

TEST(WorkerProcess, KillsTheWholeGroup) {
  pid_t grandchild = 0;
  {
    WorkerProcess process({"/bin/sh", "-c", "sleep 1000 & echo $!"});
    ASSERT_TRUE(holds_soon([&] { return process.ended(); }));
    grandchild = std::stoi(read_available(process.log(), 100).bytes);
    EXPECT_FALSE(is_gone(grandchild));
  }
  EXPECT_TRUE(holds_soon([&] { return is_gone(grandchild); }));
  EXPECT_TRUE(has_no_children());
}

TEST(WorkerProcess, SaysWhyItCannotStart) {
  for (const auto& [path, reason] :
       {std::pair<std::string, std::string>{"/nowhere/worker", "No such file or directory"},
        {testing::TempDir(), "Permission denied"}}) {
    try {
      WorkerProcess process({path});
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr("cannot start the worker " + path + ": " + reason));
    }
  }
  EXPECT_TRUE(has_no_children());
}

TEST(WorkerProcess, SendToOneThatIsGoneIsFalse) {
  std::signal(SIGPIPE, SIG_IGN);
  WorkerProcess process({"/bin/sh", "-c", "exec 0<&-; echo ready; exec sleep 1000"});
  ASSERT_TRUE(holds_soon([&] { return !read_available(process.log(), 100).bytes.empty(); }));
  EXPECT_FALSE(process.send("stop\n"));
  std::signal(SIGPIPE, SIG_DFL);
}

}  // namespace
}  // namespace flopmark
