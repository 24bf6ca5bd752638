#pragma once

#include <string>

namespace flopmark {

/// One line of JSON about the tensors of a .pt file: { "tensors": [ { name, dtype, shape, low, high } ] }, or
/// { "error": "..." } with what read_tensor_file() says against it.
std::string describe_tensors(const std::string& path);

}  // namespace flopmark
