#pragma once

#include <string>

#include "flopmark/record.h"

namespace flopmark {

/// One line per field, named as in a record: value in the unit that fits, or "not available". Safe for a
/// terminal.
std::string environment_text(const Environment& environment);

}  // namespace flopmark
