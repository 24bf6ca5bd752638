#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "results/record_file.h"

namespace flopmark {
namespace {

using nlohmann::json;

constexpr int kSignificantDigits = 6;

/// Text that is not UTF-8 is mended rather than refused: a record must be writable whatever a message held.
std::string scalar_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string number_text(const json& value, bool rounded) {
  if (!rounded || !value.is_number_float()) return scalar_text(value);
  // Through decimal text, so that the value is the one nearest to the six digits and prints as just those.
  const std::string digits = fmt::format("{:.{}g}", value.get<double>(), kSignificantDigits);
  return scalar_text(std::strtod(digits.c_str(), nullptr));
}

bool is_number_or_null(const json& value) {
  return value.is_number() || value.is_null();
}

class Layout {
 public:
  void add(const json& value, size_t depth, bool rounded) {
    if (value.is_object() && !value.empty()) return add_object(value, depth, rounded);
    if (value.is_array() && !value.empty()) return add_array(value, depth, rounded);
    text_ += value.is_number() ? number_text(value, rounded) : scalar_text(value);
  }
  std::string take() { return std::move(text_) + "\n"; }

 private:
  void start_line(size_t depth) { text_.append(1, '\n').append(2 * depth, ' '); }

  void add_object(const json& object, size_t depth, bool rounded) {
    text_ += '{';
    bool first = true;
    for (const auto& [key, value] : object.items()) {  // sorted: the library's objects are ordered maps
      if (!first) text_ += ',';
      first = false;
      start_line(depth + 1);
      text_ += scalar_text(key) + ": ";
      add(value, depth + 1, rounded && !(depth == 0 && key == "config"));
    }
    start_line(depth);
    text_ += '}';
  }

  void add_array(const json& array, size_t depth, bool rounded) {
    const bool one_line = std::all_of(array.begin(), array.end(), is_number_or_null);
    text_ += '[';
    for (size_t i = 0; i < array.size(); ++i) {
      if (i > 0) text_ += one_line ? ", " : ",";
      if (!one_line) start_line(depth + 1);
      add(array[i], depth + 1, rounded);
    }
    if (!one_line) start_line(depth);
    text_ += ']';
  }

  std::string text_;
};

}  // namespace

std::string format_record(const json& record, bool rounded) {
  Layout layout;
  layout.add(record, 0, rounded);
  return layout.take();
}

}  // namespace flopmark
