#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace flopmark {

/// What a rule may know of a tensor argument.
struct TensorShape {
  std::vector<int64_t> sizes;
  /// Its gradient is wanted: what a backward operator without an output mask goes by.
  bool needs_grad = true;
  /// Values per stored element along the contracted dimension: 2 for pairs of 4-bit floats.
  int64_t packed = 1;
  /// Content of a small integer tensor (offsets of sequences or groups) where a rule asks for it; else empty.
  std::vector<int64_t> values = {};
};

/// One argument as dispatched; std::monostate is none, an undefined tensor, or a kind that no rule reads.
using Argument = std::variant<std::monostate, TensorShape, std::vector<TensorShape>, bool, int64_t, double,
                              std::vector<int64_t>, std::vector<bool>>;

/// One call of an operator: all that its FLOPs follow from.
struct OperatorCall {
  std::string name;  ///< as dispatched, without the overload: aten::mm
  std::vector<Argument> arguments = {};
  bool complex_values = false;     ///< a complex multiply-add is four real ones
  std::string precision = "fp32";  ///< number type of the products, as the peak table calls it
};

/// The argument at `index`, counted from 0. @throws std::invalid_argument if it is absent, of another kind,
/// or, for `sizes_at`, of another rank: the caller then cannot count the call.
const TensorShape& tensor_at(const OperatorCall& call, size_t index);
const std::vector<int64_t>& sizes_at(const OperatorCall& call, size_t index, size_t rank);
const std::vector<TensorShape>& tensors_at(const OperatorCall& call, size_t index);
const std::vector<int64_t>& ints_at(const OperatorCall& call, size_t index);
const std::vector<bool>& bools_at(const OperatorCall& call, size_t index);
int64_t int_at(const OperatorCall& call, size_t index);
bool bool_at(const OperatorCall& call, size_t index);

/// The tensor at `index`, or nullptr if there is none.
const TensorShape* find_tensor(const OperatorCall& call, size_t index);

}  // namespace flopmark
