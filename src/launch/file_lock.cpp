#include "launch/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "flopmark/error.h"

namespace flopmark {
namespace {

FileDescriptor open_lock(const std::filesystem::path& file) {
  FileDescriptor opened(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!opened) throw usage_error(fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
  return opened;
}

/// Whether it was taken; false only with LOCK_NB.
bool lock(const FileDescriptor& opened, int how) {
  int code = 0;
  do {
    code = ::flock(opened.get(), how);
  } while (code != 0 && errno == EINTR);
  return code == 0;
}

}  // namespace

FileLock FileLock::wait(const std::filesystem::path& file) {
  FileDescriptor opened = open_lock(file);
  lock(opened, LOCK_EX);
  return FileLock(std::move(opened));
}

std::optional<FileLock> FileLock::take(const std::filesystem::path& file) {
  FileDescriptor opened = open_lock(file);
  if (!lock(opened, LOCK_EX | LOCK_NB)) return std::nullopt;
  return FileLock(std::move(opened));
}

}  // namespace flopmark
