#include "data/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "flopmark/error.h"

namespace flopmark {
namespace {

Error cannot_read(const std::string& path, const std::string& why) {
  return usage_error(fmt::format("{}: cannot read the data file: {}; check data.path", path, why));
}

FileIdentity identity_of(const struct stat& status) {
  const int64_t ns_per_s = 1'000'000'000;
  return {status.st_size, status.st_mtim.tv_sec * ns_per_s + status.st_mtim.tv_nsec, status.st_ino};
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  // Non-blocking, or a FIFO without a writer would hang here; regular files do not care.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) throw cannot_read(path, std::strerror(errno));
  struct stat status = {};
  std::string why;
  if (::fstat(descriptor_, &status) != 0) {
    why = std::strerror(errno);
  } else if (!S_ISREG(status.st_mode)) {
    why = S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a regular file";
  } else {
    identity_ = identity_of(status);
    why = map();
  }
  if (why.empty()) return;
  ::close(descriptor_);  // the destructor does not run for an object whose constructor throws
  throw cannot_read(path, why);
}

std::string MappedFile::map() {
  const auto size = static_cast<size_t>(identity_.size_bytes);
  if (size == 0) return "";  // mmap refuses a length of 0
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (data == MAP_FAILED) return std::strerror(errno);
  bytes_ = {static_cast<const std::byte*>(data), size};
  return "";
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  if (descriptor_ >= 0) ::close(descriptor_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      identity_(other.identity_),
      bytes_(std::exchange(other.bytes_, {})) {}

void MappedFile::check_unchanged() const {
  struct stat status = {};
  if (::fstat(descriptor_, &status) == 0 && identity_of(status) == identity_) return;
  throw usage_error(fmt::format(
      "{}: the data file was changed while in use ({} bytes when opened, {} now); leave it alone during "
      "a run",
      path_, identity_.size_bytes, static_cast<int64_t>(status.st_size)));
}

}  // namespace flopmark
