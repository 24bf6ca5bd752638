#pragma once

#include <filesystem>
#include <string>

#include "config/config_layer.h"

namespace flopmark {

/// The file's extension in lower case, with its dot; empty without one. What a model file is called says what
/// is in it: .pt from torch.jit.save, .pt2 from torch.export.save, in any case.
std::string model_ending(const std::filesystem::path& file);

/// Holds the model files that `layer` names against their content, as far as a look at their end tells it:
/// before anything else is asked for that a model of that kind would need. A file that is not there yet, or
/// is of no kind that is known, is left to the worker. `file`: the config, or the model in its place.
/// @throws Error 125 saying what a file is, and the key or ending that it goes by.
void check_model_kind(const ConfigLayer& layer, const std::filesystem::path& file);

/// For a file that is to be a config by its ending.
/// @throws Error 125 as check_model_kind if it is a model.
void check_no_model(const std::filesystem::path& file);

}  // namespace flopmark
