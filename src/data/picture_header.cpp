#include "data/picture_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr std::array<unsigned char, 8> kPngSignature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::array<unsigned char, 3> kJpegSignature = {0xff, 0xd8, 0xff};
constexpr size_t kUsualHeaderBytes = 65536;

template <size_t N>
bool begins_with(std::span<const std::byte> bytes, const std::array<unsigned char, N>& signature) {
  return bytes.size() >= N && std::memcmp(bytes.data(), signature.data(), N) == 0;
}

/// Big-endian, as both formats are. The caller has looked that the bytes are there.
int64_t big_endian(std::span<const std::byte> bytes, size_t offset, size_t length) {
  int64_t value = 0;
  for (size_t i = 0; i < length; ++i) value = value * 256 + std::to_integer<int64_t>(bytes[offset + i]);
  return value;
}

std::string first_bytes(std::span<const std::byte> bytes) {
  constexpr size_t kShown = 8;
  std::string text;
  for (const std::byte byte : bytes.first(std::min(kShown, bytes.size()))) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", std::to_integer<int>(byte));
  }
  return text;
}

/// IHDR is the first chunk (ISO/IEC 15948, 5.6): length, type, width, height.
std::optional<PictureHeader> png_header(std::span<const std::byte> bytes) {
  if (bytes.size() < 24 || std::memcmp(bytes.data() + 12, "IHDR", 4) != 0) return std::nullopt;
  return PictureHeader{PictureFormat::png, big_endian(bytes, 16, 4), big_endian(bytes, 20, 4)};
}

bool is_frame_header(int64_t marker) {  // SOF0 to SOF15 without DHT, JPG and DAC (ITU-T T.81, table B.1)
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/// Walks the marker segments to the frame header.
std::optional<PictureHeader> jpeg_header(std::span<const std::byte> bytes) {
  size_t at = 2;
  while (at + 4 <= bytes.size()) {
    if (bytes[at] != std::byte{0xff}) return std::nullopt;
    const int64_t marker = big_endian(bytes, at + 1, 1);
    if (marker == 0xff) {  // a fill byte
      ++at;
      continue;
    }
    if (marker == 0) return std::nullopt;  // no marker: the library would look on for one in what follows
    if (is_frame_header(marker)) {
      if (at + 9 > bytes.size()) return std::nullopt;
      return PictureHeader{PictureFormat::jpeg, big_endian(bytes, at + 7, 2), big_endian(bytes, at + 5, 2)};
    }
    const bool stands_alone = marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    at += stands_alone ? 2 : 2 + static_cast<size_t>(big_endian(bytes, at + 2, 2));
  }
  return std::nullopt;
}

}  // namespace

std::optional<PictureFormat> picture_format(std::span<const std::byte> begin) {
  if (begins_with(begin, kPngSignature)) return PictureFormat::png;
  if (begins_with(begin, kJpegSignature)) return PictureFormat::jpeg;
  return std::nullopt;
}

std::optional<PictureHeader> picture_header(std::span<const std::byte> bytes, const std::string& path) {
  if (bytes.empty()) throw usage_error(fmt::format("{}: the picture file is empty; remove it", path));
  const auto format = picture_format(bytes);
  if (!format) {
    throw usage_error(fmt::format(
        "{}: called a picture, but by its content neither JPEG nor PNG (it begins with {}); convert or "
        "remove it",
        path, first_bytes(bytes)));
  }
  const auto header = *format == PictureFormat::png ? png_header(bytes) : jpeg_header(bytes);
  if (!header) return std::nullopt;
  if (header->width < 1 || header->height < 1) {
    throw usage_error(
        fmt::format("{}: a picture of {} x {} pixels; remove it", path, header->width, header->height));
  }
  check_pixels(header->width, header->height, path);
  return header;
}

void check_pixels(int64_t width, int64_t height, const std::string& path) {
  if (width <= kMostPixels / height) return;
  throw usage_error(fmt::format(
      "{}: a picture of {} x {} pixels, more than the {} that are decoded; scale it down or remove it", path,
      width, height, kMostPixels));
}

PictureHeader read_picture_header(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw usage_error(fmt::format("{}: cannot read the picture: {}", path, std::strerror(errno)));
  }
  std::vector<char> bytes;
  constexpr size_t kMost = static_cast<size_t>(kMostPictureBytes) + 1;
  for (size_t wanted = kUsualHeaderBytes;; wanted = std::min(wanted * 16, kMost)) {
    const size_t before = bytes.size();
    bytes.resize(wanted);
    stream.read(bytes.data() + before, static_cast<std::streamsize>(wanted - before));
    bytes.resize(before + static_cast<size_t>(stream.gcount()));
    const auto header = picture_header(std::as_bytes(std::span(bytes)), path);
    if (header) return *header;
    if (!stream || bytes.size() >= kMost) break;
  }
  throw usage_error(
      fmt::format("{}: the picture ends before its size is told: cut short or damaged; remove it", path));
}

}  // namespace flopmark
