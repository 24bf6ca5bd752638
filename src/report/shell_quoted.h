#pragma once

#include <string>
#include <string_view>

namespace flopmark {

/// `text` as one word of a command line that a reader may copy into bash or zsh: as it is where that is safe,
/// else in single quotes; where it has bytes that a terminal must not be shown, in $'...' with those as
/// escapes.
std::string shell_quoted(std::string_view text);

}  // namespace flopmark
