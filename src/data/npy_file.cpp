#include "data/npy_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr size_t kMostDimensions = 32;  // NumPy's own limit until 2.0
constexpr int64_t kMostValues = int64_t{1} << 48;

struct NpyType {
  const char* descr;  ///< without the byte order
  const char* dtype;
  int64_t bytes;
};

constexpr NpyType kNpyTypes[] = {
    {"f2", "float16", 2}, {"f4", "float32", 4}, {"f8", "float64", 8}, {"i1", "int8", 1}, {"i2", "int16", 2},
    {"i4", "int32", 4},   {"i8", "int64", 8},   {"u1", "uint8", 1},   {"b1", "bool", 1},
};

/// What a header that cannot be used is refused for.
struct NpyFault {
  std::string why;
};

[[noreturn]] void refuse_npy(const std::string& why) {
  throw NpyFault{why};
}

/// The header: the text of a Python dict with the keys descr, fortran_order and shape.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : rest_(text) {}

  bool accept(char wanted) {
    skip_space();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) refuse_npy(fmt::format("its header is no dict of NumPy's ('{}' expected)", wanted));
  }
  std::string quoted() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const size_t end = rest_.find(quote);
    if (end == std::string_view::npos) refuse_npy("its header ends within a word");
    std::string word(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return word;
  }
  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    refuse_npy("fortran_order in its header is neither True nor False");
  }
  int64_t size() {
    skip_space();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) refuse_npy("its header has a shape that is none");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    accept('L');  // Python 2 wrote long numbers so
    return value;
  }
  std::vector<int64_t> tuple() {
    expect('(');
    std::vector<int64_t> sizes;
    while (!accept(')')) {
      if (sizes.size() == kMostDimensions) refuse_npy("its header has more than 32 dimensions");
      sizes.push_back(size());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }
  bool begins_list() {
    skip_space();
    return !rest_.empty() && rest_.front() == '[';
  }

 private:
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }
  std::string_view rest_;
};

void take_type(HeaderText& header, NpyLayout& layout) {
  if (header.begins_list()) refuse_npy("it holds records (a structured dtype); save each field as an array");
  const std::string descr = header.quoted();
  const std::string kind = descr.empty() ? "" : descr.substr(1);
  const auto* found = std::find_if(std::begin(kNpyTypes), std::end(kNpyTypes),
                                   [&](const NpyType& type) { return kind == type.descr; });
  if (descr == "|O") {
    refuse_npy("it holds Python objects (dtype object), which are a pickle: refused; save numbers");
  }
  if (found == std::end(kNpyTypes)) {
    refuse_npy(
        fmt::format("its dtype \"{}\" is none that can be trained on; use float32, int64 or another number",
                    descr.substr(0, 20)));
  }
  if (descr.front() == '>' && found->bytes > 1) {
    refuse_npy(fmt::format("its numbers are big-endian (\"{}\"); save array.astype(\"<{}\")", descr, kind));
  }
  layout.dtype = found->dtype;
  layout.element_bytes = found->bytes;
}

void check_shape(const std::vector<int64_t>& shape) {
  if (shape.empty()) refuse_npy("it holds a single value; the first dimension must be the samples");
  int64_t values = 1;
  for (const int64_t size : shape) {
    if (size > 0 && values > kMostValues / size) refuse_npy("its header has a shape beyond any memory");
    values *= size;
  }
}

void read_header(HeaderText header, NpyLayout& layout) {
  int known = 0;
  header.expect('{');
  while (!header.accept('}')) {
    const std::string key = header.quoted();
    header.expect(':');
    if (key == "descr") {
      take_type(header, layout);
    } else if (key == "fortran_order") {
      layout.fortran_order = header.boolean();
    } else if (key == "shape") {
      layout.shape = header.tuple();
    } else {
      refuse_npy(fmt::format("its header has an unknown key \"{}\"", key.substr(0, 40)));
    }
    ++known;
    if (!header.accept(',')) {
      header.expect('}');
      break;
    }
  }
  if (known != 3 || layout.element_bytes == 0) refuse_npy("its header lacks descr, fortran_order or shape");
  check_shape(layout.shape);
}

/// Header length, and where the header begins.
struct HeaderPlace {
  size_t begin = 0, length = 0;
};

HeaderPlace header_place(std::span<const std::byte> file) {
  if (!begins_as_npy(file)) refuse_npy("is no .npy file; save the array with numpy.save");
  if (file.size() < 10) refuse_npy("is cut short within its header; save it again");
  const auto version = static_cast<int>(file[6]);
  if (version < 1 || version > 3)
    refuse_npy(fmt::format("is .npy version {}; versions 1 to 3 are read", version));
  HeaderPlace place;
  if (version == 1) {
    uint16_t length = 0;
    std::memcpy(&length, file.data() + 8, sizeof(length));
    place = {10, length};
  } else {
    uint32_t length = 0;
    if (file.size() < 12) refuse_npy("is cut short within its header; save it again");
    std::memcpy(&length, file.data() + 8, sizeof(length));
    place = {12, length};
  }
  if (place.length > file.size() - place.begin) refuse_npy("is cut short within its header; save it again");
  return place;
}

}  // namespace

int64_t NpyLayout::values() const {
  int64_t product = 1;
  for (const int64_t size : shape) product *= size;
  return product;
}

bool begins_as_npy(std::span<const std::byte> file) {
  return file.size() >= kNpyMagic.size() && std::memcmp(file.data(), kNpyMagic.data(), kNpyMagic.size()) == 0;
}

NpyLayout npy_layout(std::span<const std::byte> file, const std::string& path) try {
  const HeaderPlace place = header_place(file);
  NpyLayout layout;
  layout.offset_bytes = static_cast<int64_t>(place.begin + place.length);
  read_header(HeaderText({reinterpret_cast<const char*>(file.data()) + place.begin, place.length}), layout);
  const int64_t expected = layout.values() * layout.element_bytes,
                found = static_cast<int64_t>(file.size()) - layout.offset_bytes;
  if (expected != found) {
    refuse_npy(
        fmt::format("its header says {} bytes of values, but {} follow: cut short or damaged; save it again",
                    expected, found));
  }
  return layout;
} catch (const NpyFault& fault) {
  throw usage_error(fmt::format("{}: {}", path, fault.why));
}

}  // namespace flopmark
