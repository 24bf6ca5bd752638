#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "data/mapped_file.h"

namespace flopmark {

/// One tensor of a file: its place among the inputs, and the name it had in a dict.
struct NamedTensor {
  std::string name;  ///< empty in a list or tuple
  torch::Tensor tensor;
};

/// Reads the tensors of a .pt file of torch.save: a list, a tuple or a dict (in its order) of tensors, or one
/// alone; on the CPU wherever they were saved from, contiguous. The file is not trusted: see
/// check_tensor_archive(); then LibTorch's restricted unpickler, which builds tensors and containers only and
/// calls nothing, reads it, and every tensor must lie inside its storage.
/// @throws Error 200 naming the file and what is wrong with it.
std::vector<NamedTensor> read_tensor_file(const MappedFile& file);

/// The tensor that a .npy file holds; in C order it lies in the mapped file, which must outlive it. @throws
/// Error 200 as npy_layout().
torch::Tensor npy_tensor(const MappedFile& file);

}  // namespace flopmark
