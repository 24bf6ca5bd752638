#include "cli/scratch_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "flopmark/error.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "flopmark-run-";
constexpr size_t kRandomCharacters = 6;

fs::path scratch_parent() {
  const char* given = std::getenv("TMPDIR");
  return given != nullptr && *given != '\0' ? given : "/tmp";
}

[[noreturn]] void refuse_scratch(const std::string& what, int error) {
  throw usage_error(
      fmt::format("cannot {} in {}: {}; set TMPDIR to a folder that can be written and has room", what,
                  scratch_parent().string(), std::generic_category().message(error)));
}

/// Whether `name` is one that ScratchFolder gives: the prefix, a process number, "-" and six characters.
bool is_scratch_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  const size_t dash = name.find('-');
  if (dash == 0 || dash == std::string_view::npos) return false;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::all_of(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(dash), is_digit) &&
         name.size() - dash - 1 == kRandomCharacters;
}

FileDescriptor open_folder(const fs::path& folder) {
  return FileDescriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool is_mine(const FileDescriptor& folder) {
  struct stat facts {};
  return folder && ::fstat(folder.get(), &facts) == 0 && facts.st_uid == ::geteuid();
}

/// Whose process lives is locked. A process number tells less: it comes again, and in another container it is
/// somebody else.
void remove_abandoned(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    if (!is_scratch_name(at->path().filename().string())) continue;
    const FileDescriptor folder = open_folder(at->path());
    std::error_code ignored;  // somebody else may be removing it, too
    if (is_mine(folder) && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) fs::remove_all(at->path(), ignored);
  }
}

}  // namespace

ScratchFolder::ScratchFolder() {
  const fs::path parent = scratch_parent();
  remove_abandoned(parent);
  std::error_code ignored;
  // One that another run takes for abandoned before it is locked is gone then, and another is made.
  while (path_.empty() || !fs::exists(path_, ignored)) {
    std::string name = (parent / fmt::format("{}{}-XXXXXX", kPrefix, ::getpid())).string();
    if (::mkdtemp(name.data()) == nullptr) refuse_scratch("make a scratch folder", errno);
    path_ = name;
    lock_ = open_folder(path_);
    if (!lock_ && errno != ENOENT) refuse_scratch("open a scratch folder", errno);
    if (lock_) ::flock(lock_.get(), LOCK_EX);
  }
}

ScratchFolder::ScratchFolder(int64_t bytes) : ScratchFolder() {
  const fs::path probe = path_ / "room";
  const FileDescriptor file(::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const int error = file ? ::posix_fallocate(file.get(), 0, bytes) : errno;
  ::unlink(probe.c_str());
  if (error != 0) refuse_scratch(fmt::format("write {} bytes of samples", bytes), error);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // what cannot be removed is the system's temporary files to clean up
  fs::remove_all(path_, ignored);
}

}  // namespace flopmark
