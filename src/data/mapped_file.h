#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace flopmark {

/// What tells one state of a file from another without reading it.
struct FileIdentity {
  int64_t size_bytes = 0;
  int64_t mtime_ns = 0;
  uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// A regular file mapped read-only.
class MappedFile {
 public:
  /// @throws Error 200: not there, not readable, not a regular file. An empty file is an empty span.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile& operator=(MappedFile&&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::string& path() const { return path_; }
  const FileIdentity& identity() const { return identity_; }
  /// One system call. Reading pages that a truncation took away would kill the process, so ask first.
  /// @throws Error 200 if size, mtime or inode are not what was mapped.
  void check_unchanged() const;

 private:
  std::string map();  ///< why it failed, or empty

  std::string path_;
  int descriptor_ = -1;
  FileIdentity identity_;
  std::span<const std::byte> bytes_;
};

}  // namespace flopmark
