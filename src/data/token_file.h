#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace flopmark {

/// Where the ids of a file lie.
struct TokenLayout {
  std::string format;         ///< text, raw-uint16, llmc
  int64_t offset_bytes = 0;   ///< of the first id
  int64_t element_bytes = 1;  ///< 1 (text) or 2, little-endian unsigned
  int64_t count = 0;          ///< ids
};

/// Every byte of the file is an id.
TokenLayout text_layout(std::span<const std::byte> file);

/// The layout of a token file.
///   raw-uint16: ids alone (nanoGPT's data/*/prepare.py).
///   llmc: 256 int32, the first three magic 20240520, version 1 and the number of ids; then ids as uint16
///   (llm.c, dev/data/data_common.py).
///   auto: llmc if the file begins with its magic, else raw-uint16.
/// Any bytes are accepted as input. `path` is for messages.
/// @throws Error 200: unknown format; a header where none was expected or none where one was; another
/// version; an
///   id count that disagrees with the file's size; an odd number of bytes.
TokenLayout token_layout(std::span<const std::byte> file, const std::string& format, const std::string& path);

/// The 256 words that begin an llm.c file of `count` ids.
std::vector<int32_t> llmc_token_header(int32_t count);

}  // namespace flopmark
