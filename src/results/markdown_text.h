#pragma once

#include <string>
#include <string_view>

namespace flopmark {

/// `text` as it reads, whatever it holds: Markdown and HTML marks are escaped; control characters (line feeds
/// and terminal escapes too), those that turn the reading direction, and bytes that are not UTF-8 are left
/// out.
std::string markdown_escaped(std::string_view text);

}  // namespace flopmark
