#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace flopmark {

/// One record of a zip archive, as the central directory tells of it.
struct ZipEntry {
  std::string name;
  int64_t stored_bytes = 0;    ///< in the file
  int64_t unpacked_bytes = 0;  ///< as the directory says
  bool compressed = false;
};

/// The central directory of a zip archive (PKWARE APPNOTE 6.3, zip64 included); nothing is unpacked. Any
/// bytes are accepted as input. `path` is for messages.
/// @throws Error 200: no directory (cut short, or no zip), one that does not fit the file, or more than
/// 65536 records.
std::vector<ZipEntry> zip_directory(std::span<const std::byte> file, const std::string& path);

/// Whether the bytes begin as a zip archive does.
bool begins_as_zip(std::span<const std::byte> file);

}  // namespace flopmark
