#include "data/zip_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr uint32_t kEndMagic = 0x06054b50, kEnd64Magic = 0x06064b50, kLocator64Magic = 0x07064b50,
                   kEntryMagic = 0x02014b50;
constexpr size_t kEndBytes = 22, kLocator64Bytes = 20, kEnd64Bytes = 56, kEntryBytes = 46;
constexpr size_t kLongestComment = 65535;
constexpr uint64_t kMostEntries = 65536;
constexpr uint16_t kZip64Extra = 1;

/// A file's bytes with every read checked; zip is little-endian.
class ZipBytes {
 public:
  ZipBytes(std::span<const std::byte> bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  size_t size() const { return bytes_.size(); }
  template <typename T>
  T at(uint64_t offset) const {
    need(offset, sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  std::string text(uint64_t offset, size_t length) const {
    need(offset, length);
    return {reinterpret_cast<const char*>(bytes_.data()) + offset, length};
  }
  [[noreturn]] void damaged(const std::string& why) const {
    throw usage_error(
        fmt::format("{}: the zip archive is cut short or damaged: {}; copy or save it again", path_, why));
  }

 private:
  void need(uint64_t offset, uint64_t length) const {
    if (offset > bytes_.size() || length > bytes_.size() - offset) damaged("its directory leaves the file");
  }

  std::span<const std::byte> bytes_;
  const std::string& path_;
};

/// Where the directory lies, and what it says of itself.
struct Directory {
  uint64_t offset = 0, entries = 0;
};

uint64_t end_record(const ZipBytes& file) {
  if (file.size() < kEndBytes) file.damaged("it has no directory");
  const size_t last = file.size() - kEndBytes;
  const size_t first = last - std::min(last, kLongestComment);
  for (size_t offset = last + 1; offset-- > first;) {
    if (file.at<uint32_t>(offset) == kEndMagic) return offset;
  }
  file.damaged("it has no directory");
}

Directory find_directory(const ZipBytes& file) {
  const uint64_t end = end_record(file);
  Directory directory{file.at<uint32_t>(end + 16), file.at<uint16_t>(end + 10)};
  const bool has_locator =
      end >= kLocator64Bytes && file.at<uint32_t>(end - kLocator64Bytes) == kLocator64Magic;
  if (has_locator) {
    const auto end64 = file.at<uint64_t>(end - kLocator64Bytes + 8);
    if (end64 > file.size() - kEnd64Bytes || file.at<uint32_t>(end64) != kEnd64Magic) {
      file.damaged("its zip64 end record is missing");
    }
    directory = {file.at<uint64_t>(end64 + 48), file.at<uint64_t>(end64 + 32)};
  }
  if (directory.entries > kMostEntries) file.damaged(fmt::format("it names {} records", directory.entries));
  return directory;
}

/// The two sizes of an entry whose 32-bit fields say "see the zip64 extra field".
void read_sizes(const ZipBytes& file, uint64_t extra, uint16_t extra_bytes, uint64_t& unpacked,
                uint64_t& stored) {
  constexpr uint64_t kElsewhere = std::numeric_limits<uint32_t>::max();
  for (uint64_t at = extra; at + 4 <= extra + extra_bytes; at += 4 + uint64_t{file.at<uint16_t>(at + 2)}) {
    if (file.at<uint16_t>(at) != kZip64Extra) continue;
    uint64_t field = at + 4;
    if (unpacked == kElsewhere) {
      unpacked = file.at<uint64_t>(field);
      field += sizeof(uint64_t);
    }
    if (stored == kElsewhere) stored = file.at<uint64_t>(field);
    return;
  }
}

/// Reads the entry at `offset` and moves it behind.
ZipEntry read_entry_at(const ZipBytes& file, uint64_t& offset) {
  if (file.at<uint32_t>(offset) != kEntryMagic) file.damaged("its directory is broken");
  const auto method = file.at<uint16_t>(offset + 10);
  uint64_t stored = file.at<uint32_t>(offset + 20), unpacked = file.at<uint32_t>(offset + 24);
  const auto name_bytes = file.at<uint16_t>(offset + 28), extra_bytes = file.at<uint16_t>(offset + 30),
             comment_bytes = file.at<uint16_t>(offset + 32);
  ZipEntry entry;
  entry.name = file.text(offset + kEntryBytes, name_bytes);
  read_sizes(file, offset + kEntryBytes + name_bytes, extra_bytes, unpacked, stored);
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (stored > file.size() || unpacked > kMost) file.damaged("a record is larger than the file");
  entry.stored_bytes = static_cast<int64_t>(stored);
  entry.unpacked_bytes = static_cast<int64_t>(unpacked);
  entry.compressed = method != 0;
  offset += kEntryBytes + name_bytes + extra_bytes + comment_bytes;
  return entry;
}

}  // namespace

std::vector<ZipEntry> zip_directory(std::span<const std::byte> bytes, const std::string& path) {
  const ZipBytes file(bytes, path);
  const Directory directory = find_directory(file);
  std::vector<ZipEntry> entries;
  uint64_t offset = directory.offset;
  for (uint64_t i = 0; i < directory.entries; ++i) entries.push_back(read_entry_at(file, offset));
  return entries;
}

bool begins_as_zip(std::span<const std::byte> file) {
  return file.size() >= 4 && std::memcmp(file.data(), "PK\x03\x04", 4) == 0;
}

}  // namespace flopmark
