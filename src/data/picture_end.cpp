#include "data/picture_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "data/mapped_file.h"
#include "data/picture_header.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

using Bytes = std::span<const std::byte>;

constexpr int kEndOfImage = 0xd9;

int value_of(Bytes bytes, size_t at) {
  return std::to_integer<int>(bytes[at]);
}

/// TEM, RST0 to RST7 and SOI have no segment behind them (ITU-T T.81, table B.1).
bool stands_alone(int marker) {
  return marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}

/// Where the next marker's 0xff is, from `at` in coded data, where zeros and restarts follow 0xff too.
size_t next_marker(Bytes file, size_t at) {
  for (; at + 1 < file.size(); ++at) {
    if (value_of(file, at) != 0xff) continue;
    const int next = value_of(file, at + 1);
    if (next != 0 && next != 0xff && !stands_alone(next)) return at;
  }
  return file.size();
}

bool has_jpeg_end(Bytes file) {
  const size_t size = file.size();
  if (size < 4) return false;
  if (value_of(file, size - 2) == 0xff && value_of(file, size - 1) == kEndOfImage) return true;
  for (size_t at = next_marker(file, 2); at + 2 <= size; at = next_marker(file, at)) {
    if (value_of(file, at + 1) == kEndOfImage) return true;
    if (at + 4 > size) return false;
    at += 2 + static_cast<size_t>(value_of(file, at + 2) * 256 + value_of(file, at + 3));
  }
  return false;
}

/// Chunks: length, four letters, data, checksum (ISO/IEC 15948, 5.3). The last is the same in every file;
/// from one chunk to the next the whole file is read.
bool has_png_end(Bytes file) {
  constexpr size_t kSignature = 8, kFrame = 12;
  constexpr std::array<unsigned char, kFrame> kLast = {0,   0,   0,    0,    'I',  'E',
                                                       'N', 'D', 0xae, 0x42, 0x60, 0x82};
  if (file.size() >= kFrame && std::memcmp(file.last(kFrame).data(), kLast.data(), kFrame) == 0) return true;
  for (size_t at = kSignature; at + kFrame <= file.size();) {
    size_t length = 0;
    for (size_t i = 0; i < 4; ++i) length = length * 256 + static_cast<size_t>(value_of(file, at + i));
    const Bytes name = file.subspan(at + 4, 4);
    const bool is_name = std::all_of(name.begin(), name.end(), [](std::byte byte) {
      const int letter = std::to_integer<int>(byte) | 0x20;
      return letter >= 'a' && letter <= 'z';
    });
    if (!is_name || length > file.size() - at - kFrame) return false;
    if (std::string_view(reinterpret_cast<const char*>(name.data()), 4) == "IEND") return true;
    at += kFrame + length;
  }
  return false;
}

}  // namespace

bool has_picture_end(std::span<const std::byte> file) {
  const auto format = picture_format(file);
  if (!format) return false;
  return *format == PictureFormat::png ? has_png_end(file) : has_jpeg_end(file);
}

void check_picture_file(const std::string& path) {
  read_picture_header(path);
  if (has_picture_end(MappedFile(path).bytes())) return;
  throw usage_error(fmt::format(
      "{}: the picture ends before its last byte: cut short or damaged; replace or remove it", path));
}

}  // namespace flopmark
