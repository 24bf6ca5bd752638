#pragma once

#include <png.h>
// After cstdio, which it needs.
#include <cstdio>

#include <jpeglib.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace flopmark {

/// A picture to encode: rows of `channels` values each, of 16 bits in network order where `bits` is 16.
struct PictureToWrite {
  int width = 0, height = 0, channels = 3;
  std::vector<uint8_t> values;
  int bits = 8;
  bool interlaced = false;
};

/// Every pixel the same.
inline PictureToWrite plain_picture(int width, int height, const std::vector<uint8_t>& pixel) {
  PictureToWrite picture{width, height, static_cast<int>(pixel.size()), {}};
  for (int i = 0; i < width * height; ++i) {
    picture.values.insert(picture.values.end(), pixel.begin(), pixel.end());
  }
  return picture;
}

/// The bytes of a PNG file: grey, grey and alpha, RGB or RGBA by the channels.
inline std::string png_file(const PictureToWrite& picture) {
  constexpr int kColours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                              PNG_COLOR_TYPE_RGB_ALPHA};
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp writer, png_bytep bytes, size_t count) {
        static_cast<std::string*>(png_get_io_ptr(writer))->append(reinterpret_cast<char*>(bytes), count);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<unsigned>(picture.width), static_cast<unsigned>(picture.height),
               picture.bits, kColours[picture.channels - 1],
               picture.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  std::vector<uint8_t> values = picture.values;
  std::vector<png_bytep> rows;
  const size_t row_bytes = static_cast<size_t>(picture.width * picture.channels * picture.bits / 8);
  for (int y = 0; y < picture.height; ++y) rows.push_back(values.data() + static_cast<size_t>(y) * row_bytes);
  png_write_info(png, info);
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

/// The bytes of a JPEG file: grey, RGB (as YCbCr) or CMYK by the channels.
inline std::string jpeg_file(const PictureToWrite& picture, int quality = 95, bool progressive = false) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = static_cast<unsigned>(picture.width);
  jpeg.image_height = static_cast<unsigned>(picture.height);
  jpeg.input_components = picture.channels;
  jpeg.in_color_space = picture.channels == 1 ? JCS_GRAYSCALE : picture.channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, quality, TRUE);
  if (progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<uint8_t> values = picture.values;
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row =
        values.data() + jpeg.next_scanline * jpeg.image_width * static_cast<unsigned>(picture.channels);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string file(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&jpeg);
  std::free(bytes);
  return file;
}

}  // namespace flopmark
