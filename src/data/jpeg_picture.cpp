// The C library reports errors by a long jump, so nothing with a destructor lives in the functions that may
// be left that way.
#include <fmt/format.h>

#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>
// After jpeglib.h, which it needs.
#include <jerror.h>

#include "data/picture.h"
#include "data/picture_header.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr int kMostScans = 500;  // libjpeg-turbo's own advice against progressive files made to take hours

/// The library's error manager with a way out and the last message.
struct JpegErrors {
  jpeg_error_mgr manager;  // first: the library knows only this part
  std::jmp_buf way_out;
  char message[JMSG_LENGTH_MAX];
  bool cut_short;
};

JpegErrors& errors_of(j_common_ptr common) {
  return *reinterpret_cast<JpegErrors*>(common->err);
}

void leave(j_common_ptr common) {
  common->err->format_message(common, errors_of(common).message);
  std::longjmp(errors_of(common).way_out, 1);
}

/// Warnings (level -1) of data that is missing are remembered; those of odd but whole files are not.
void take_warning(j_common_ptr common, int level) {
  const int code = common->err->msg_code;
  if (level >= 0 || (code != JWRN_JPEG_EOF && code != JWRN_HIT_MARKER)) return;
  common->err->format_message(common, errors_of(common).message);
  errors_of(common).cut_short = true;
}

void limit_scans(j_common_ptr common) {
  if (!common->is_decompressor || reinterpret_cast<j_decompress_ptr>(common)->input_scan_number <= kMostScans)
    return;
  std::snprintf(errors_of(common).message, JMSG_LENGTH_MAX, "more than %d scans", kMostScans);
  std::longjmp(errors_of(common).way_out, 1);
}

struct JpegReader {
  jpeg_decompress_struct jpeg;
  JpegErrors errors;
  jpeg_progress_mgr progress;

  JpegReader() : jpeg{}, errors{}, progress{} {
    jpeg.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = leave;
    errors.manager.emit_message = take_warning;
    progress.progress_monitor = limit_scans;
  }
  ~JpegReader() { jpeg_destroy_decompress(&jpeg); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
};

bool is_cmyk(const JpegReader& reader) {
  return reader.jpeg.jpeg_color_space == JCS_CMYK || reader.jpeg.jpeg_color_space == JCS_YCCK;
}

/// Everything up to the size and colours of the picture. @returns whether it went well.
bool read_jpeg_header(JpegReader& reader, const unsigned char* bytes, unsigned long size) {
  if (setjmp(reader.errors.way_out) != 0) return false;
  jpeg_create_decompress(&reader.jpeg);
  reader.jpeg.progress = &reader.progress;
  jpeg_mem_src(&reader.jpeg, bytes, size);
  jpeg_read_header(&reader.jpeg, TRUE);
  reader.jpeg.out_color_space = is_cmyk(reader) ? JCS_CMYK : JCS_RGB;
  return true;
}

/// Room for the whole picture, where it is progressive. @returns whether it went well.
bool start_jpeg(JpegReader& reader) {
  if (setjmp(reader.errors.way_out) != 0) return false;
  jpeg_start_decompress(&reader.jpeg);
  return true;
}

/// All rows into `pixels`, which has room for them. @returns whether it went well.
bool read_jpeg_rows(JpegReader& reader, unsigned char* pixels, size_t row_bytes) {
  if (setjmp(reader.errors.way_out) != 0) return false;
  while (reader.jpeg.output_scanline < reader.jpeg.output_height) {
    JSAMPROW row = pixels + reader.jpeg.output_scanline * row_bytes;
    jpeg_read_scanlines(&reader.jpeg, &row, 1);
  }
  jpeg_finish_decompress(&reader.jpeg);
  return !reader.errors.cut_short;
}

/// Files with Adobe's marker, which nearly all are, hold inverted CMYK: 255 is no ink.
std::vector<uint8_t> rgb_of_cmyk(const std::vector<uint8_t>& cmyk, bool inverted) {
  std::vector<uint8_t> rgb(cmyk.size() / 4 * 3);
  const auto light = [&](uint8_t ink) { return inverted ? int{ink} : 255 - int{ink}; };
  for (size_t i = 0; i < rgb.size() / 3; ++i) {
    const int black = light(cmyk[4 * i + 3]);
    for (size_t channel = 0; channel < 3; ++channel) {
      rgb[3 * i + channel] = static_cast<uint8_t>((light(cmyk[4 * i + channel]) * black + 127) / 255);
    }
  }
  return rgb;
}

[[noreturn]] void refuse_jpeg(const std::string& path, const JpegReader& reader) {
  throw usage_error(
      fmt::format("{}: cannot decode the JPEG picture: {}; it is cut short, damaged or of an unusual kind: "
                  "replace or remove it",
                  path, reader.errors.message));
}

}  // namespace

Picture decode_jpeg(std::span<const std::byte> file, const std::string& path) {
  JpegReader reader;
  if (!read_jpeg_header(reader, reinterpret_cast<const unsigned char*>(file.data()), file.size())) {
    refuse_jpeg(path, reader);
  }
  check_pixels(reader.jpeg.image_width, reader.jpeg.image_height, path);
  if (!start_jpeg(reader)) refuse_jpeg(path, reader);
  Picture picture;
  picture.width = reader.jpeg.output_width;
  picture.height = reader.jpeg.output_height;
  const auto row_bytes =
      static_cast<size_t>(picture.width) * static_cast<size_t>(reader.jpeg.output_components);
  picture.rgb.resize(static_cast<size_t>(picture.height) * row_bytes);
  if (!read_jpeg_rows(reader, picture.rgb.data(), row_bytes)) refuse_jpeg(path, reader);
  if (is_cmyk(reader)) picture.rgb = rgb_of_cmyk(picture.rgb, reader.jpeg.saw_Adobe_marker == TRUE);
  return picture;
}

}  // namespace flopmark
