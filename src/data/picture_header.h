#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace flopmark {

/// Larger pictures are refused unread: Pillow's own limit against decompression bombs (256 MiB as RGB).
inline constexpr int64_t kMostPixels = 89478485;
/// Larger files are refused unread.
inline constexpr int64_t kMostPictureBytes = int64_t{512} << 20;

enum class PictureFormat { jpeg, png };

struct PictureHeader {
  PictureFormat format = PictureFormat::jpeg;
  int64_t width = 0, height = 0;
};

/// The format that the first bytes tell, whatever the file is called.
std::optional<PictureFormat> picture_format(std::span<const std::byte> begin);

/// Format and size of the picture that `bytes` (a file, or its beginning) hold; nothing if they end before
/// the size. Any bytes are accepted as input. `path` is for messages.
/// @throws Error 200: empty, neither JPEG nor PNG by its content, no pixels, or more than kMostPixels.
std::optional<PictureHeader> picture_header(std::span<const std::byte> bytes, const std::string& path);

/// What is decoded has the size that the library finds, which need not be the one told above.
/// @throws Error 200 for more than kMostPixels. Both are above 0.
void check_pixels(int64_t width, int64_t height, const std::string& path);

/// The same of a file, of which no more is read than is needed. @throws Error 200 also if it cannot be read
/// or ends before the size.
PictureHeader read_picture_header(const std::string& path);

}  // namespace flopmark
