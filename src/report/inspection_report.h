#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "data/inspection.h"

namespace flopmark {

/// What `flopmark data inspect` prints: label and value a line, then the config lines. Text from files is
/// made safe for a terminal.
std::string inspection_text(const Inspection& inspection);

/// The same as an object: path, kind, data_type, format, samples, tokens, low_id, high_id, classes,
/// label_count, tensors (name, dtype, shape, low, high), advice, config; unknown is null.
nlohmann::json inspection_json(const Inspection& inspection);

}  // namespace flopmark
