#include "launch/file_descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr int kLowestDescriptor = 10;

[[noreturn]] void refuse(const char* what) {
  throw usage_error(fmt::format("cannot {} for the worker: {}; close other programs or raise `ulimit -n`",
                                what, std::strerror(errno)));
}

FileDescriptor moved_up(const FileDescriptor& low) {
  FileDescriptor high(::fcntl(low.get(), F_DUPFD_CLOEXEC, kLowestDescriptor));
  if (!high) refuse("open a pipe");
  return high;
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void FileDescriptor::close() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

PipeEnds make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) refuse("open a pipe");
  const FileDescriptor read(fds[0]);
  const FileDescriptor write(fds[1]);
  return {moved_up(read), moved_up(write)};
}

void set_nonblocking(const FileDescriptor& fd) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) != 0) refuse("set up a pipe");
}

ReadResult read_available(const FileDescriptor& fd, size_t limit) {
  ReadResult result;
  char buffer[16 * 1024];
  while (result.bytes.size() < limit) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      result.ended = got == 0 || errno != EAGAIN;
      break;
    }
    result.bytes.append(buffer, static_cast<size_t>(got));
  }
  return result;
}

}  // namespace flopmark
