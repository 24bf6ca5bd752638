#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace flopmark {

/// Whether a JPEG or PNG file, whose header is whole, goes on to the mark that ends it, as the decoders want
/// it: copies that were cut short do not. Nothing is decoded, and a file is read through only if its last
/// bytes are not the mark. Any bytes are accepted as input.
bool has_picture_end(std::span<const std::byte> file);

/// Header and end of a picture's file. What is damaged between them shows when it is decoded.
/// @throws Error 200 as read_picture_header(), and for a file that is cut short.
void check_picture_file(const std::string& path);

}  // namespace flopmark
