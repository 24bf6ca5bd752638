#pragma once

#include <exception>
#include <string>

namespace flopmark {

/// The first line of what `error` says, without LibTorch's C++ stack trace.
std::string first_line_of(const std::exception& error);

}  // namespace flopmark
