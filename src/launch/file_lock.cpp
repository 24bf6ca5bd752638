#include "launch/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr auto kLook = std::chrono::milliseconds(20), kLong = std::chrono::milliseconds(1000);

/// To lock a file it need not be writable: another user may have made it.
FileDescriptor open_lock(const std::filesystem::path& file) {
  int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0 && errno == ENOENT) opened = ::open(file.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
  if (opened < 0)
    throw usage_error(fmt::format("cannot open the lock {}: {}", file.string(), std::strerror(errno)));
  return FileDescriptor(opened);
}

}  // namespace

std::optional<FileLock> FileLock::take(const std::filesystem::path& file, Kind kind) {
  FileDescriptor opened = open_lock(file);
  const int operation = (kind == Kind::shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  int code = 0;
  do {
    code = ::flock(opened.get(), operation);
  } while (code != 0 && errno == EINTR);
  if (code == 0) return FileLock(std::move(opened));
  if (errno == EWOULDBLOCK) return std::nullopt;
  throw usage_error(fmt::format("cannot lock {}: {}", file.string(), std::strerror(errno)));
}

/// Asks again and again: a signal that comes just before a call that blocks would not be seen.
std::optional<FileLock> FileLock::wait(const std::filesystem::path& file, const Waiting& waiting) {
  const auto begun = std::chrono::steady_clock::now();
  bool told = false;
  while (!waiting.give_up()) {
    if (std::optional<FileLock> lock = take(file, waiting.kind)) return lock;
    const bool is_long = std::chrono::steady_clock::now() - begun >= kLong;
    if (is_long && !told) waiting.takes_longer();
    told = told || is_long;
    std::this_thread::sleep_for(kLook);
  }
  return std::nullopt;
}

}  // namespace flopmark
