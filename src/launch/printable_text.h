#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace flopmark {

/// `text` as valid UTF-8 of one line that a terminal may be shown: escape sequences and control characters
/// (C0, C1, and the invisible direction marks) are dropped, tabs and newlines become spaces, bytes that are
/// not UTF-8 become "?". Cut with "..." to at most `limit` bytes (at least 3).
std::string printable_text(std::string_view text, size_t limit);

}  // namespace flopmark
