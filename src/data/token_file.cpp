#include "data/token_file.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "flopmark/counted.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

static_assert(std::endian::native == std::endian::little,
              "token files are read in place, and are little-endian");

constexpr int64_t kHeaderBytes = 256 * sizeof(int32_t);
constexpr int32_t kMagic = 20240520;
constexpr int32_t kVersion = 1;
constexpr int32_t kMagicUint32 = 20240801;  // llm.c's Llama 3 files: ids of 32 bits

/// Header word `index`, or 0 where the file ends before.
int32_t header_word(std::span<const std::byte> file, size_t index) {
  int32_t word = 0;
  if (file.size() >= (index + 1) * sizeof(word))
    std::memcpy(&word, file.data() + index * sizeof(word), sizeof(word));
  return word;
}

TokenLayout raw_layout(std::span<const std::byte> file, const std::string& path) {
  if (header_word(file, 0) == kMagic) {
    throw usage_error(
        fmt::format("{}: data.format is raw-uint16, but the file begins with llm.c's magic number {}: its "
                    "1024-byte header would be read as ids; set data.format to llmc or auto",
                    path, kMagic));
  }
  if (file.size() % 2 != 0) {
    throw usage_error(fmt::format(
        "{}: {}, an odd number, cannot be ids of 2 bytes each; is this a token file? For plain text "
        "set data.type to text",
        path, counted(std::ssize(file), "byte")));
  }
  return {"raw-uint16", 0, 2, static_cast<int64_t>(file.size() / 2)};
}

TokenLayout llmc_layout(std::span<const std::byte> file, const std::string& path) {
  const auto size = static_cast<int64_t>(file.size());
  if (header_word(file, 0) != kMagic) {
    throw usage_error(fmt::format(
        "{}: data.format is llmc, but the file begins with {} in place of the magic number {}; set "
        "data.format to raw-uint16 if it has no header",
        path, header_word(file, 0), kMagic));
  }
  if (size < kHeaderBytes) {
    throw usage_error(
        fmt::format("{}: the llm.c header is {} bytes, but the file ends after {}; make it anew", path,
                    kHeaderBytes, size));
  }
  if (header_word(file, 1) != kVersion) {
    throw usage_error(
        fmt::format("{}: the llm.c header says version {}; only version {} (ids of 2 bytes) is read", path,
                    header_word(file, 1), kVersion));
  }
  const int64_t count = header_word(file, 2);
  if (size != kHeaderBytes + 2 * count) {
    throw usage_error(fmt::format(
        "{}: the llm.c header says {} ids, which with it make {} bytes, but the file has {}; it is cut "
        "short or damaged: make it anew",
        path, count, kHeaderBytes + 2 * count, size));
  }
  return {"llmc", kHeaderBytes, 2, count};
}

}  // namespace

std::vector<int32_t> llmc_token_header(int32_t count) {
  std::vector<int32_t> header(kHeaderBytes / sizeof(int32_t));
  header[0] = kMagic;
  header[1] = kVersion;
  header[2] = count;
  return header;
}

TokenLayout text_layout(std::span<const std::byte> file) {
  return {"text", 0, 1, static_cast<int64_t>(file.size())};
}

TokenLayout token_layout(std::span<const std::byte> file, const std::string& format,
                         const std::string& path) {
  const int32_t first = header_word(file, 0);
  if (first == kMagicUint32) {
    throw usage_error(
        fmt::format("{}: an llm.c file with ids of 4 bytes (magic number {}); only ids of 2 bytes are read: "
                    "tokenize to uint16",
                    path, kMagicUint32));
  }
  if (format == "auto") return first == kMagic ? llmc_layout(file, path) : raw_layout(file, path);
  if (format == "raw-uint16") return raw_layout(file, path);
  if (format == "llmc") return llmc_layout(file, path);
  throw usage_error(fmt::format("data.format \"{}\" is unknown; known: auto, raw-uint16, llmc", format));
}

}  // namespace flopmark
