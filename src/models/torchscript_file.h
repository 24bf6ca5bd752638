#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>

namespace flopmark {

/// Loads a file of torch.jit.save onto `device`. The file is not trusted: nothing of it runs while it is
/// loaded, no tensor reaches beyond what the file holds for it, and operators that are no tensor arithmetic
/// (reading or writing files, calls to other processes, custom classes) are refused.
/// @throws Error 125, in one line, if there is no such file, it is of another kind, broken, or refused.
torch::jit::Module load_torchscript(const std::string& path, const torch::Device& device);

/// The first operator in `graph` or what is nested in it that is refused, such as aten::save; empty if none.
std::string refused_operator(const torch::jit::Graph& graph);

}  // namespace flopmark
