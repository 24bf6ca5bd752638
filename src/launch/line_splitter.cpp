#include "launch/line_splitter.h"

#include <algorithm>

#include "launch/printable_text.h"

namespace flopmark {

void LineSplitter::add(std::string_view bytes, const Take& take) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const size_t room = limit_bytes_ - line_.size();
    line_ += bytes.substr(0, std::min(end, room));
    if (end == std::string_view::npos) return;
    // Taken out first: `take` may throw, and the splitter must not repeat the line then.
    const std::string line = std::move(line_);
    line_.clear();
    take(line);
    bytes.remove_prefix(end + 1);
  }
}

void LineSplitter::finish(const Take& take) {
  if (line_.empty()) return;
  const std::string line = std::move(line_);
  line_.clear();
  take(line);
}

void LogTail::add(std::string_view bytes) {
  splitter_.add(bytes, [this](const std::string& line) { keep(line); });
}

void LogTail::keep(const std::string& line) {
  std::string text = printable_text(line, kLineBytes);
  if (text.find_first_not_of(' ') == std::string::npos) return;
  lines_.push_back(std::move(text));
  if (lines_.size() > kLines) lines_.pop_front();
}

std::vector<std::string> LogTail::lines() const {
  LogTail all = *this;
  all.splitter_.finish([&all](const std::string& line) { all.keep(line); });
  return {all.lines_.begin(), all.lines_.end()};
}

}  // namespace flopmark
