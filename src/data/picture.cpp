#include "data/picture.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "data/picture_header.h"
#include "flopmark/error.h"

namespace flopmark {

Picture decode_picture(std::span<const std::byte> file, const std::string& path) {
  const auto header = picture_header(file, path);
  if (!header) {
    throw usage_error(
        fmt::format("{}: the picture ends before its size is told: cut short or damaged; remove it", path));
  }
  return header->format == PictureFormat::jpeg ? decode_jpeg(file, path) : decode_png(file, path);
}

Picture read_picture(const std::string& path) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = stream ? std::streamoff(stream.tellg()) : -1;
  if (size < 0) {
    throw usage_error(fmt::format("{}: cannot read the picture: {}", path, std::strerror(errno)));
  }
  if (size > kMostPictureBytes) {
    throw usage_error(fmt::format("{}: a picture file of {} bytes, more than the {} that are read; remove it",
                                  path, size, kMostPictureBytes));
  }
  std::vector<char> bytes(static_cast<size_t>(size));
  stream.seekg(0);
  if (size > 0 && !stream.read(bytes.data(), size)) {
    throw usage_error(
        fmt::format("{}: the picture changed while it was read; leave it alone during a run", path));
  }
  return decode_picture(std::as_bytes(std::span(bytes)), path);
}

}  // namespace flopmark
