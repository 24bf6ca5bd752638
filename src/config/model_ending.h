#pragma once

#include <filesystem>
#include <string>

namespace flopmark {

/// The file's extension in lower case, with its dot; empty without one. What a model file is called says what
/// is in it: .pt from torch.jit.save, .pt2 from torch.export.save, in any case.
std::string model_ending(const std::filesystem::path& file);

}  // namespace flopmark
