#include "models/exported_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "config/key_value.h"

namespace flopmark {
namespace {

using nlohmann::json;

constexpr size_t kMostDimensions = 64;

template <typename T>
struct EnumRow {
  int64_t number;
  T value;
};

constexpr EnumRow<torch::Dtype> kDtypes[] = {{1, at::kByte},
                                             {2, at::kChar},
                                             {3, at::kShort},
                                             {4, at::kInt},
                                             {5, at::kLong},
                                             {6, at::kHalf},
                                             {7, at::kFloat},
                                             {8, at::kDouble},
                                             {9, at::kComplexHalf},
                                             {10, at::kComplexFloat},
                                             {11, at::kComplexDouble},
                                             {12, at::kBool},
                                             {13, at::kBFloat16},
                                             {28, at::kUInt16},
                                             {29, at::kFloat8_e4m3fn},
                                             {30, at::kFloat8_e5m2},
                                             {31, at::kFloat8_e4m3fnuz},
                                             {32, at::kFloat8_e5m2fnuz},
                                             {33, at::kFloat8_e8m0fnu},
                                             {34, at::kUInt32},
                                             {35, at::kUInt64}};

constexpr EnumRow<c10::Layout> kLayouts[] = {{1, c10::kSparse},    {2, c10::kSparseCsr}, {3, c10::kSparseCsc},
                                             {4, c10::kSparseBsr}, {5, c10::kSparseBsc}, {7, c10::kStrided}};

constexpr EnumRow<c10::MemoryFormat> kMemoryFormats[] = {{1, c10::MemoryFormat::Contiguous},
                                                         {2, c10::MemoryFormat::ChannelsLast},
                                                         {3, c10::MemoryFormat::ChannelsLast3d},
                                                         {4, c10::MemoryFormat::Preserve}};

template <typename T, size_t N>
T find_enum(const EnumRow<T> (&rows)[N], const json& value, const char* what) {
  const int64_t number = exported_int(value);
  const auto* found = std::find_if(std::begin(rows), std::end(rows),
                                   [&](const EnumRow<T>& row) { return row.number == number; });
  if (found == std::end(rows)) throw std::runtime_error(fmt::format("{} {} is not known here", what, number));
  return found->value;
}

/// s0 of "Symbol('s0', positive=True, integer=True)"; other expressions as they are.
std::string symbol_name(const std::string& expression) {
  const std::string begin = "Symbol('";
  if (expression.rfind(begin, 0) != 0 || expression.find('(', begin.size()) != std::string::npos) {
    return expression;
  }
  return expression.substr(begin.size(), expression.find('\'', begin.size()) - begin.size());
}

ExportedSize size_of(const json& value) {
  const UnionValue given = union_value(value);
  if (given.kind == "as_int") return {exported_int(given.value), {}, {}};
  if (given.kind != "as_expr") throw std::runtime_error(fmt::format("a size is given {}", given.kind));
  ExportedSize size{0, symbol_name(given.value.at("expr_str").get_ref<const std::string&>()), {}};
  if (size.symbol.empty()) throw std::runtime_error("a size is an empty expression");
  const auto hint = given.value.find("hint");
  if (hint != given.value.end() && hint->is_object() && hint->contains("as_int")) {
    size.hint = exported_int(hint->at("as_int"));
  }
  return size;
}

std::vector<ExportedSize> sizes_of(const json& list) {
  if (!list.is_array() || list.size() > kMostDimensions) {
    throw std::runtime_error(fmt::format("sizes are {}, expected a list of them", found_text(list)));
  }
  std::vector<ExportedSize> sizes;
  for (const json& entry : list) sizes.push_back(size_of(entry));
  return sizes;
}

}  // namespace

UnionValue union_value(const json& json) {
  if (!json.is_object() || json.size() != 1) {
    throw std::runtime_error(
        fmt::format("found {}, expected an object with one member, such as as_int", found_text(json)));
  }
  return {json.begin().key(), json.begin().value()};
}

int64_t exported_int(const json& json) {
  const auto number = whole_number(json);
  if (!number) throw std::runtime_error(fmt::format("found {}, expected a whole number", found_text(json)));
  return *number;
}

double exported_float(const json& json) {
  if (json == "Infinity") return std::numeric_limits<double>::infinity();
  if (json == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (json == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (!json.is_number())
    throw std::runtime_error(fmt::format("found {}, expected a number", found_text(json)));
  return json.get<double>();
}

torch::Dtype exported_dtype(const json& json) {
  return find_enum(kDtypes, json, "dtype");
}

c10::Layout exported_layout(const json& json) {
  return find_enum(kLayouts, json, "layout");
}

c10::MemoryFormat exported_memory_format(const json& json) {
  return find_enum(kMemoryFormats, json, "memory format");
}

TensorMeta tensor_meta(const json& json) {
  if (exported_layout(json.at("layout")) != c10::kStrided) {
    throw std::runtime_error("a stored tensor is sparse, which is not read here");
  }
  return {.dtype = exported_dtype(json.at("dtype")),
          .sizes = sizes_of(json.at("sizes")),
          .strides = sizes_of(json.at("strides")),
          .storage_offset = size_of(json.at("storage_offset")),
          .requires_grad = json.at("requires_grad").get<bool>()};
}

std::vector<int64_t> known_sizes(const std::vector<ExportedSize>& sizes) {
  std::vector<int64_t> values;
  for (const ExportedSize& size : sizes) {
    if (!size.symbol.empty() || size.value < 0) {
      throw std::runtime_error(fmt::format("a stored tensor has the size {}",
                                           size.symbol.empty() ? std::to_string(size.value) : size.symbol));
    }
    values.push_back(size.value);
  }
  return values;
}

}  // namespace flopmark
