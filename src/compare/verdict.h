#pragma once

#include "flopmark/error.h"

namespace flopmark {

/// What a comparison says of the new side.
enum class Verdict { slower, faster, same, unsure, not_comparable };

/// slower, faster, same, unsure, not_comparable.
const char* to_text(Verdict verdict);
/// 1, 0, 0, 125, 201.
ExitCode exit_code(Verdict verdict);

}  // namespace flopmark
