#include "config/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <vector>

#include "config/key_value.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

using nlohmann::json;

// Far above any config; with them, what a hostile text can make this code hold stays small.
constexpr size_t kDeepest = 16;
constexpr size_t kLongestKeyBytes = 128;

/// How much of the text the parser has read.
struct Progress {
  size_t bytes = 0;
  size_t line = 1;
};

/// Reads a text and counts what has been read, so that the handler knows where the parser is.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Progress* progress) : at_(at), progress_(progress) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    if (*at_ == '\n') ++progress_->line;
    ++at_;
    ++progress_->bytes;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  Progress* progress_;
};

struct Position {
  size_t line, column;
};

/// Of the last of the first `count` bytes.
Position position_of(const std::string& text, size_t count) {
  const size_t last = std::min(count, text.size()) - (count > 0 && !text.empty() ? 1 : 0);
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(last);
  const size_t line_start = last == 0 ? std::string::npos : text.rfind('\n', last - 1);
  return {static_cast<size_t>(std::count(text.begin(), end, '\n')) + 1,
          line_start == std::string::npos ? last + 1 : last - line_start};
}

/// What the parser complains of, without its place.
std::string reason_of(const json::exception& error) {
  const std::string text = json_complaint(error);
  const size_t at = text.starts_with("line ") ? text.find(": ") : std::string::npos;
  return at == std::string::npos ? text : text.substr(at + 2);
}

bool after_comma(const std::string& text, size_t count) {
  if (count < 2 || count > text.size() || (text[count - 1] != '}' && text[count - 1] != ']')) return false;
  const size_t before = text.find_last_not_of(" \t\r\n", count - 2);
  return before != std::string::npos && text[before] == ',';
}

/// Sees every key before a document is built of them.
class StrictHandler : public json::json_sax_t {
 public:
  StrictHandler(const std::string& text, const std::string& source) : text_(text), source_(source) {}

  Progress* progress() { return &progress_; }
  std::map<std::string, size_t> take_lines() { return std::move(lines_); }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override {
    enter();
    return levels_.back().array = true;
  }
  bool end_array() override { return leave(); }

  bool key(string_t& name) override {
    if (name.size() > kLongestKeyBytes) {
      throw usage_error(fmt::format("{}: key {} is longer than any key there is ({} bytes at most)",
                                    place(progress_.bytes), quoted_text(name), kLongestKeyBytes));
    }
    Level& level = levels_.back();
    level.key = name;
    if (!level.seen.insert(name).second) {
      throw usage_error(fmt::format("{}: key {} is given twice (first in line {}); keep one of them",
                                    place(progress_.bytes), quoted_text(path()), lines_[path()]));
    }
    lines_[path()] = progress_.line;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const json::exception& error) override {
    const char* hint =
        after_comma(text_, position) ? " (a comma before a closing bracket is not allowed)" : "";
    throw usage_error(fmt::format("{}: not valid JSON: {}{}", place(position), reason_of(error), hint));
  }

 private:
  struct Level {
    std::string key;
    std::set<std::string> seen;
    bool array = false;  ///< has no keys
  };

  bool enter() {
    if (levels_.size() == kDeepest) {
      throw usage_error(fmt::format("{}: nested more than {} levels deep; a config needs 3",
                                    place(progress_.bytes), kDeepest));
    }
    levels_.emplace_back();
    return true;
  }
  bool leave() {
    levels_.pop_back();
    return true;
  }
  std::string path() const {
    std::string path;
    for (const Level& level : levels_) {
      if (!level.array) path += (path.empty() ? "" : ".") + level.key;
    }
    return path;
  }
  std::string place(size_t count) const {
    const Position at = position_of(text_, count);
    return fmt::format("{}:{}:{}", source_, at.line, at.column);
  }

  const std::string& text_;
  const std::string& source_;
  Progress progress_;
  std::vector<Level> levels_;
  std::map<std::string, size_t> lines_;
};

}  // namespace

std::string json_complaint(const json::exception& error) {
  constexpr size_t kLongestBytes = 300;
  std::string text = error.what();
  if (const size_t at = text.find("] "); text.starts_with('[') && at != std::string::npos)
    text.erase(0, at + 2);
  constexpr std::string_view kPlace = "parse error at ";
  if (text.starts_with(kPlace)) text.erase(0, kPlace.size());
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7E) c = '?';
  }
  return text.substr(0, kLongestBytes);
}

JsonDocument parse_strict_json(const std::string& text, const std::string& source) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw usage_error(fmt::format("{}: is empty; the smallest config is {{}}", source));
  }
  StrictHandler handler(text, source);
  const char* begin = text.data();
  json::sax_parse(CountingIterator(begin, handler.progress()),
                  CountingIterator(begin + text.size(), handler.progress()), &handler,
                  json::input_format_t::json, true, true);
  return {json::parse(text, nullptr, true, true), handler.take_lines()};
}

}  // namespace flopmark
