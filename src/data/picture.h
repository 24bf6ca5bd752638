#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace flopmark {

/// A decoded picture: rows of 8-bit RGB.
struct Picture {
  int64_t width = 0, height = 0;
  std::vector<uint8_t> rgb;  ///< height x width x 3
};

/// Decodes a JPEG or PNG file, told apart by its content. Grey is repeated over the three channels; an alpha
/// channel is dropped, not composited (as Pillow's convert("RGB") does); 16-bit samples are scaled to 8;
/// CMYK is made RGB without a colour profile. EXIF orientation, gamma and colour profiles are not applied,
/// as torchvision's default loader does not. Any bytes are accepted as input. `path` is for messages.
/// @throws Error 200: as picture_header(); cut short or damaged, in the library's own words.
Picture decode_picture(std::span<const std::byte> file, const std::string& path);

/// One format each, once the header has been looked at. @throws Error 200 if damaged.
Picture decode_jpeg(std::span<const std::byte> file, const std::string& path);
Picture decode_png(std::span<const std::byte> file, const std::string& path);

/// Reads and decodes a file. @throws Error 200 also if it cannot be read.
Picture read_picture(const std::string& path);

}  // namespace flopmark
