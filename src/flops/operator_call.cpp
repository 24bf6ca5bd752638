#include "flops/operator_call.h"

#include <fmt/format.h>

#include <stdexcept>

namespace flopmark {
namespace {

template <typename Kind>
const Kind& argument_at(const OperatorCall& call, size_t index, const char* kind) {
  if (index < call.arguments.size()) {
    if (const auto* value = std::get_if<Kind>(&call.arguments[index])) {
      return *value;
    }
  }
  throw std::invalid_argument(fmt::format("{}: argument {} is not {}", call.name, index, kind));
}

}  // namespace

const TensorShape& tensor_at(const OperatorCall& call, size_t index) {
  return argument_at<TensorShape>(call, index, "a dense tensor");
}

const std::vector<int64_t>& sizes_at(const OperatorCall& call, size_t index, size_t rank) {
  const auto& sizes = tensor_at(call, index).sizes;
  if (sizes.size() != rank) {
    throw std::invalid_argument(
        fmt::format("{}: argument {} has {} dimensions, not {}", call.name, index, sizes.size(), rank));
  }
  return sizes;
}

const std::vector<TensorShape>& tensors_at(const OperatorCall& call, size_t index) {
  return argument_at<std::vector<TensorShape>>(call, index, "a list of dense tensors");
}

const std::vector<int64_t>& ints_at(const OperatorCall& call, size_t index) {
  return argument_at<std::vector<int64_t>>(call, index, "a list of integers");
}

const std::vector<bool>& bools_at(const OperatorCall& call, size_t index) {
  return argument_at<std::vector<bool>>(call, index, "a list of booleans");
}

int64_t int_at(const OperatorCall& call, size_t index) {
  return argument_at<int64_t>(call, index, "an integer");
}

bool bool_at(const OperatorCall& call, size_t index) {
  return argument_at<bool>(call, index, "a boolean");
}

const TensorShape* find_tensor(const OperatorCall& call, size_t index) {
  return index < call.arguments.size() ? std::get_if<TensorShape>(&call.arguments[index]) : nullptr;
}

}  // namespace flopmark
