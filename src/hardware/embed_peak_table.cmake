# Turns INPUT into a C++ source that defines flopmark::peak_table_text(). In pieces, because a compiler need not take a
# string literal longer than 65,536 characters.
file(READ "${INPUT}" text)
string(LENGTH "${text}" length)
set(pieces "")
set(position 0)
while(position LESS length)
  string(SUBSTRING "${text}" ${position} 8000 piece)
  string(APPEND pieces "    R\"peaks(${piece})peaks\",\n")
  math(EXPR position "${position} + 8000")
endwhile()
file(WRITE "${OUTPUT}" "// Generated from peaks.json.
#include <string>

#include \"hardware/peak_table.h\"

namespace flopmark {

std::string peak_table_text() {  // NOLINT(readability-function-size)
  static constexpr const char* kPieces[] = {
${pieces}  };
  std::string text;
  for (const char* piece : kPieces) text += piece;
  return text;
}

}  // namespace flopmark
")
