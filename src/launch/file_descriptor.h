#pragma once

#include <string>
#include <utility>

namespace flopmark {

/// Owns an open descriptor; -1 is none.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close() noexcept;

 private:
  int fd_ = -1;
};

struct PipeEnds {
  FileDescriptor read, write;
};

/// A pipe that no program started later inherits, both ends numbered 10 or more, so that a child can put
/// copies at 0 to 3 without treading on them. @throws Error 200 if the process may open no more.
PipeEnds make_pipe();

/// Reads and writes of `fd` return at once. @throws Error 200.
void set_nonblocking(const FileDescriptor& fd);

/// At most `limit` bytes that are there to read now. `ended`: nothing more will come. Never blocks on a
/// nonblocking descriptor.
struct ReadResult {
  std::string bytes;
  bool ended = false;
};
ReadResult read_available(const FileDescriptor& fd, size_t limit);

}  // namespace flopmark
