#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace flopmark {

struct TokenWriteOptions {
  std::string format = "llmc";  ///< llmc, raw-uint16: see token_layout()
  bool force = false;           ///< overwrite
};

/// Writes the bytes of `text` as a token file of 16-bit ids, one per byte. Written beside `output` and
/// renamed when whole. @returns the number of ids.
/// @throws Error 200: text missing or empty, output there without `force`, or the text itself; more ids than
/// the header can tell. Error 202 if it cannot be written; what was there is then unchanged.
int64_t write_byte_tokens(const std::string& text, const std::filesystem::path& output,
                          const TokenWriteOptions& options);

}  // namespace flopmark
