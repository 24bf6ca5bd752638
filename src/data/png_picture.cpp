// The C library reports errors by a long jump, so nothing with a destructor lives in the functions that may
// be left that way.
#include <fmt/format.h>
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "data/picture.h"
#include "data/picture_header.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr size_t kMostChunkBytes = size_t{8} << 20;  // text and profiles, which are not used

struct PngReader {
  explicit PngReader(std::span<const std::byte> file)
      : rest(file),
        png(png_create_read_struct(PNG_LIBPNG_VER_STRING, this, leave, ignore)),
        info(png != nullptr ? png_create_info_struct(png) : nullptr) {}
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  static void leave(png_structp png, png_const_charp text) {
    auto& reader = *static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(reader.message, sizeof(reader.message), "%s", text);
    png_longjmp(png, 1);
  }
  static void ignore(png_structp, png_const_charp) {}
  static void read(png_structp png, png_bytep target, size_t bytes) {
    auto& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
    if (bytes > reader.rest.size()) png_error(png, "the file ends early");
    std::memcpy(target, reader.rest.data(), bytes);
    reader.rest = reader.rest.subspan(bytes);
  }

  std::span<const std::byte> rest;
  char message[160] = "out of memory";
  png_structp png;
  png_infop info;
};

/// Header, and what is to come out: 8-bit RGB. @returns whether it went well.
bool start_png(PngReader& reader) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  png_set_read_fn(reader.png, &reader, PngReader::read);
  png_set_chunk_malloc_max(reader.png, kMostChunkBytes);
  png_read_info(reader.png, reader.info);
  png_set_expand(reader.png);    // palettes, 1 to 4 bits, transparent colours
  png_set_scale_16(reader.png);  // v / 257, rounded
  png_set_gray_to_rgb(reader.png);
  png_set_strip_alpha(reader.png);
  png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  return true;
}

bool read_png_rows(PngReader& reader, png_bytepp rows) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  png_read_image(reader.png, rows);
  png_read_end(reader.png, nullptr);
  return true;
}

[[noreturn]] void refuse_png(const std::string& path, const PngReader& reader) {
  throw usage_error(
      fmt::format("{}: cannot decode the PNG picture: {}; it is cut short or damaged: replace or remove it",
                  path, reader.message));
}

}  // namespace

Picture decode_png(std::span<const std::byte> file, const std::string& path) {
  PngReader reader(file);
  if (reader.info == nullptr || !start_png(reader)) refuse_png(path, reader);
  Picture picture;
  picture.width = png_get_image_width(reader.png, reader.info);
  picture.height = png_get_image_height(reader.png, reader.info);
  const size_t row_bytes = png_get_rowbytes(reader.png, reader.info);
  if (row_bytes != static_cast<size_t>(picture.width) * 3) refuse_png(path, reader);
  picture.rgb.resize(static_cast<size_t>(picture.height) * row_bytes);
  std::vector<png_bytep> rows(static_cast<size_t>(picture.height));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = picture.rgb.data() + i * row_bytes;
  if (!read_png_rows(reader, rows.data())) refuse_png(path, reader);
  return picture;
}

}  // namespace flopmark
