#pragma once

#include <filesystem>
#include <string>

#include "config/config_layer.h"

namespace flopmark {

/// Turns given values into a whole config: the preset's shape, then defaults, then the values; makes
/// data.path absolute. Does not look at any file. `where` names the config in messages. @throws Error 200 for
/// keys that do not apply to the types chosen and for values that contradict each other.
RunConfig resolve_values(const ConfigLayer& layer, const std::string& where);

/// @throws Error 200 unless the data files, where there are any, are regular files that can be opened; of
/// pictures, a folder.
void check_data_file(const RunConfig& config, const ConfigLayer& layer);

}  // namespace flopmark
