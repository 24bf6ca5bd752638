#include "launch/file_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace flopmark {
namespace {

TEST(FileDescriptor, ClosesOnceAndMoves) {
  PipeEnds pipe = make_pipe();
  const int number = pipe.read.get();
  FileDescriptor moved = std::move(pipe.read);
  EXPECT_EQ(moved.get(), number);
  EXPECT_NE(::fcntl(number, F_GETFD), -1);
  moved = FileDescriptor();
  EXPECT_FALSE(moved);
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST(FileDescriptor, PipesAreNotInheritedAndLieHigh) {
  const PipeEnds pipe = make_pipe();
  for (const FileDescriptor* end : {&pipe.read, &pipe.write}) {
    EXPECT_GE(end->get(), 10);
    EXPECT_EQ(::fcntl(end->get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  }
}

TEST(FileDescriptor, ReadsWhatIsThere) {
  PipeEnds pipe = make_pipe();
  set_nonblocking(pipe.read);
  EXPECT_EQ(read_available(pipe.read, 100).bytes, "");
  EXPECT_FALSE(read_available(pipe.read, 100).ended);
  ASSERT_EQ(::write(pipe.write.get(), "abc", 3), 3);
  EXPECT_EQ(read_available(pipe.read, 100).bytes, "abc");
  pipe.write.close();
  EXPECT_TRUE(read_available(pipe.read, 100).ended);
}

}  // namespace
}  // namespace flopmark
