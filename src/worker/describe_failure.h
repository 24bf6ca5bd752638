#pragma once

#include <exception>
#include <string>

#include "flopmark/record.h"
#include "measure/step_loop.h"

namespace flopmark {

/// A failure of `kind` where the launch is now.
Failure failure_at(const LoopState& state, const std::string& kind, const std::string& text);

/// What `error` means to the user: out_of_memory, nan_loss or error, where the launch is now (a NaN: where it
/// was).
Failure describe_failure(const std::exception& error, const LoopState& state);

}  // namespace flopmark
