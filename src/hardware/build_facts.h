#pragma once

#include <functional>
#include <optional>
#include <string>

namespace flopmark {

/// Names of the sanitizers whose run-time libraries are in a process, "address, undefined", or "none".
/// `has_symbol` tells whether the process has a function of that name.
std::string sanitizer_names(const std::function<bool(const char* symbol)>& has_symbol);

/// Of this process.
std::string sanitizers_here();

/// Release, Debug, ...: what LibTorch's description of its own build gives as BUILD_TYPE; absent if it does
/// not say.
std::optional<std::string> build_type_of(const std::string& description);

}  // namespace flopmark
