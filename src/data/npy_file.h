#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace flopmark {

/// Where the values of a .npy file lie, and what they are.
struct NpyLayout {
  std::string dtype;          ///< as PyTorch names it: float32, int64, uint8, bool, ...
  int64_t element_bytes = 0;  ///< little-endian
  bool fortran_order = false;
  std::vector<int64_t> shape;  ///< at least one size, all >= 0; the first is the samples
  int64_t offset_bytes = 0;    ///< of the first value
  int64_t values() const;      ///< product of the shape
};

/// Whether the bytes begin as a .npy file does.
bool begins_as_npy(std::span<const std::byte> file);

/// Header of a .npy file, versions 1 to 3 (NumPy, numpy/lib/format.py). Any bytes are accepted as input.
/// `path` is for messages.
/// @throws Error 200: no .npy file, another version, a header that is none, values that PyTorch has not
/// (objects, text, records, big-endian numbers), a single value, or a size that is not the file's.
NpyLayout npy_layout(std::span<const std::byte> file, const std::string& path);

}  // namespace flopmark
