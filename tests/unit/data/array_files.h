#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "unit/data/temp_folder.h"

namespace flopmark {

/// A .npy file written by hand: magic, version, length of the header, header, values.
inline std::string npy_file(const std::string& header, const std::string& values, int version = 1) {
  std::string file = "\x93NUMPY";
  file.push_back(static_cast<char>(version));
  file.push_back('\0');
  const auto length = static_cast<uint32_t>(header.size());
  file.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);  // little-endian, as NumPy's
  file += header;
  file += values;
  return file;
}

inline std::string npy_header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

/// One record of a zip archive.
struct ZipRecord {
  std::string name, bytes;
  uint16_t method = 0;
  uint32_t unpacked_bytes = 0;  ///< 0: as stored
};

template <typename T>
void append_value(std::string& text, T value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// A zip archive written by hand (APPNOTE 6.3, without checksums, which nothing here reads).
inline std::string zip_file(const std::vector<ZipRecord>& records) {
  std::string file, directory;
  for (const ZipRecord& record : records) {
    const auto offset = static_cast<uint32_t>(file.size()),
               stored = static_cast<uint32_t>(record.bytes.size());
    const uint32_t unpacked = record.unpacked_bytes == 0 ? stored : record.unpacked_bytes;
    const auto name_bytes = static_cast<uint16_t>(record.name.size());
    std::string common;  // method, time, date, checksum, sizes, length of name, of extra
    append_value(common, record.method);
    append_value(common, uint32_t{0});
    append_value(common, uint32_t{0});
    append_value(common, stored);
    append_value(common, unpacked);
    append_value(common, name_bytes);
    append_value(common, uint16_t{0});
    file.append("PK\x03\x04\x14\0\0\0", 8).append(common).append(record.name).append(record.bytes);
    directory.append("PK\x01\x02\x14\0\x14\0\0\0", 10).append(common).append(10, '\0');
    append_value(directory, offset);
    directory += record.name;
  }
  const auto begin = static_cast<uint32_t>(file.size());
  file.append(directory).append("PK\x05\x06\0\0\0\0", 8);
  append_value(file, static_cast<uint16_t>(records.size()));
  append_value(file, static_cast<uint16_t>(records.size()));
  append_value(file, static_cast<uint32_t>(directory.size()));
  append_value(file, begin);
  append_value(file, uint16_t{0});
  return file;
}

}  // namespace flopmark
