#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace flopmark {

/// Cuts a stream of bytes into lines, in bounded memory: of a line longer than the limit only the beginning
/// is kept.
class LineSplitter {
 public:
  using Take = std::function<void(const std::string& line)>;

  explicit LineSplitter(size_t limit_bytes) : limit_bytes_(limit_bytes) {}
  /// Calls `take` for each line that ends in `bytes`, without its newline.
  void add(std::string_view bytes, const Take& take);
  /// Calls `take` for what came after the last newline, if anything did.
  void finish(const Take& take);

 private:
  size_t limit_bytes_;
  std::string line_;
};

/// The last lines of a program's output, printable, without empty ones.
class LogTail {
 public:
  void add(std::string_view bytes);
  /// What is kept so far, the unfinished line included. At most `kLines` lines of `kLineBytes`.
  std::vector<std::string> lines() const;

  static constexpr size_t kLines = 20, kLineBytes = 500;

 private:
  void keep(const std::string& line);

  LineSplitter splitter_{4 * kLineBytes};
  std::deque<std::string> lines_;
};

}  // namespace flopmark
