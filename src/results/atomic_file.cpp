#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "flopmark/error.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

// Begins with a dot, so that it is never taken for a record.
constexpr std::string_view kPrefix = ".flopmark-", kSuffix = ".tmp";

[[noreturn]] void refuse(const fs::path& path, const char* what, int error) {
  throw baseline_error(fmt::format("cannot write {}: {}: {}; what was there before is unchanged",
                                   path.string(), what, std::generic_category().message(error)));
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  /// @returns false with errno set if the system says only now that something was not written.
  bool close() {
    const int value = value_;
    value_ = -1;
    return value < 0 || ::close(value) == 0;
  }

 private:
  int value_;
};

/// Removes what writers that were killed left behind. A living writer holds a lock on its file, so it is
/// spared.
void remove_stale(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool ours = name.size() > kPrefix.size() + kSuffix.size() &&
                      name.compare(0, kPrefix.size(), kPrefix) == 0 &&
                      name.compare(name.size() - kSuffix.size(), kSuffix.size(), kSuffix) == 0;
    if (!ours) continue;
    const Descriptor file(::open(at->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.get() >= 0 && flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(at->path().c_str());
  }
}

/// A new, locked file in `folder`; removed unless it became `target`.
class Temporary {
 public:
  Temporary(const fs::path& target, const fs::path& folder)
      : target_(target), folder_(folder), file_(create()) {}
  ~Temporary() {
    if (!kept_) ::unlink(path_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(file_.get(), text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) refuse(target_, "writing", errno);
      text.remove_prefix(static_cast<size_t>(written));
    }
    if (fsync(file_.get()) != 0) refuse(target_, "flushing to disk", errno);
  }
  void become_target() {
    if (::rename(path_.c_str(), target_.c_str()) != 0) refuse(target_, "replacing the old file", errno);
    kept_ = true;
    file_.close();
  }

 private:
  int create() {
    static std::atomic<int> count{0};
    while (true) {
      path_ = folder_ / fmt::format("{}{}-{}{}", kPrefix, getpid(), ++count, kSuffix);
      const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file < 0 && errno == EEXIST) continue;  // another machine's or container's, with our process id
      if (file < 0) refuse(target_, "making a temporary file in its folder", errno);
      flock(file, LOCK_EX);  // where a file system has no locks, nobody can take the file for stale either
      struct stat facts {};
      if (fstat(file, &facts) == 0 && facts.st_nlink > 0) return file;
      ::close(file);  // removed as stale between making and locking it
    }
  }

  const fs::path& target_;
  const fs::path& folder_;
  fs::path path_;
  Descriptor file_;
  bool kept_ = false;
};

/// Makes a rename survive a power cut. Not every file system can flush a folder; the file itself is safe by
/// then.
void flush_folder(const fs::path& folder) {
  const Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() >= 0) fsync(file.get());
}

}  // namespace

void write_file_atomically(const fs::path& path, const std::string& text) {
  const fs::path target = path.parent_path().empty() ? "." / path : path;
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  if (error) refuse(target, "making its folder", error.value());
  remove_stale(target.parent_path());
  const fs::path folder = target.parent_path();
  Temporary temporary(target, folder);
  temporary.write(text);
  temporary.become_target();
  flush_folder(folder);
}

void check_writable(const fs::path& path) {
  constexpr size_t kProbeBytes = 4096;
  std::error_code ignored;
  fs::path folder = fs::absolute(path).parent_path();
  while (folder.has_relative_path() && !fs::exists(folder, ignored)) folder = folder.parent_path();
  Temporary(path, folder).write(std::string(kProbeBytes, ' '));
}

}  // namespace flopmark
