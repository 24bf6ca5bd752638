#pragma once

#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <torch/types.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace flopmark {

// Readers of what torch/_export/serde/schema.py describes, version 8. What does not fit throws
// std::runtime_error or nlohmann's exceptions, which tell the place; the caller adds the file.

/// The one member of a union such as {"as_int": 3}.
struct UnionValue {
  const std::string& kind;
  const nlohmann::json& value;
};
UnionValue union_value(const nlohmann::json& json);

/// Numbers as Python wrote them: "Infinity", "-Infinity" and "NaN" are floats too.
int64_t exported_int(const nlohmann::json& json);
double exported_float(const nlohmann::json& json);

/// Enumerations by their serialized numbers.
torch::Dtype exported_dtype(const nlohmann::json& json);
c10::Layout exported_layout(const nlohmann::json& json);
c10::MemoryFormat exported_memory_format(const nlohmann::json& json);

/// A size known at export, or a symbol such as s0 that stands for one; `hint` is what it was at export.
struct ExportedSize {
  int64_t value = 0;     ///< where `symbol` is empty
  std::string symbol{};  ///< s0; or an expression of symbols, as text
  std::optional<int64_t> hint{};
};

/// A tensor without its values.
struct TensorMeta {
  torch::Dtype dtype;
  std::vector<ExportedSize> sizes, strides;
  ExportedSize storage_offset;
  bool requires_grad = false;
};
TensorMeta tensor_meta(const nlohmann::json& json);

/// The values of sizes that are all known. @throws std::runtime_error for a symbol, or a negative one.
std::vector<int64_t> known_sizes(const std::vector<ExportedSize>& sizes);

}  // namespace flopmark
