#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hardware/fitness.h"

namespace flopmark {

/// One line per check: ok, warn or bad, what was found, and below it the command that changes it; then what
/// they come to. Safe for a terminal.
std::string fitness_text(const std::vector<FitnessCheck>& checks);

/// The same as JSON, `flopmark.doctor/1`.
std::string fitness_json(const std::vector<FitnessCheck>& checks);

}  // namespace flopmark
