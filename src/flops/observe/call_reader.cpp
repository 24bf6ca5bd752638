#include "flops/observe/call_reader.h"

#include <ATen/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/_to_copy.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace flopmark {
namespace {

/// Defined, and its sizes say what is multiplied.
bool is_dense(const at::Tensor& tensor) {
  return tensor.defined() && !tensor.is_nested() &&
         (tensor.layout() == at::kStrided || tensor.layout() == at::kMkldnn);
}

TensorShape shape_of(const at::Tensor& tensor) {
  return {.sizes = tensor.sizes().vec(),
          .needs_grad = tensor.requires_grad(),
          .packed = tensor.scalar_type() == at::ScalarType::Float4_e2m1fn_x2 ? 2 : 1};
}

/// Content of a one-dimensional integer tensor; empty where it has none (meta) or is of another kind.
std::vector<int64_t> values_of_tensor(const at::Tensor& tensor) {
  if (tensor.is_meta() || tensor.dim() != 1 ||
      !at::isIntegralType(tensor.scalar_type(), /*includeBool=*/false)) {
    return {};
  }
  const at::DisableRecordFunctionGuard unobserved;
  const at::NoGradGuard no_grad;
  const at::Tensor host = tensor.to(at::kCPU, at::kLong).contiguous();
  const auto* data = host.const_data_ptr<int64_t>();
  return {data, data + host.numel()};
}

Argument read_tensor_list(const c10::IValue& value) {
  std::vector<TensorShape> shapes;
  for (const at::Tensor& tensor : value.toTensorVector()) {
    if (!is_dense(tensor)) {
      return {};
    }
    shapes.push_back(shape_of(tensor));
  }
  return shapes;
}

Argument read_argument(const c10::IValue& value) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    return is_dense(tensor) ? Argument(shape_of(tensor)) : Argument();
  }
  if (value.isTensorList()) {
    return read_tensor_list(value);
  }
  if (value.isBool()) {
    return value.toBool();
  }
  if (value.isInt()) {
    return value.toInt();
  }
  if (value.isDouble()) {
    return value.toDouble();
  }
  if (value.isIntList()) {
    return value.toIntVector();
  }
  if (value.isBoolList()) {
    const auto list = value.toBoolList();
    return std::vector<bool>(list.begin(), list.end());
  }
  return {};
}

bool is_complex(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() && value.toTensor().is_complex();
}

/// What the peak table calls a number type. Complex ones are made of two numbers of that type.
std::string precision_of(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
    case at::kComplexDouble:
      return "fp64";
    case at::kFloat:
    case at::kComplexFloat:
      return "fp32";
    case at::kHalf:
    case at::kComplexHalf:
      return "fp16";
    case at::kBFloat16:
      return "bf16";
    case at::kChar:
    case at::kByte:
      return "int8";
    case at::ScalarType::Float4_e2m1fn_x2:
      return "fp4";
    default:
      return c10::isFloat8Type(type) ? "fp8" : c10::toString(type);
  }
}

/// Of the first tensor from a place on: all that are multiplied with each other have one type.
std::string precision_from(c10::ArrayRef<const c10::IValue> inputs, size_t place) {
  for (; place < inputs.size(); ++place) {
    if (inputs[place].isTensor() && inputs[place].toTensor().defined()) {
      return precision_of(inputs[place].toTensor().scalar_type());
    }
    if (inputs[place].isTensorList() && !inputs[place].toTensorList().empty()) {
      return precision_of(inputs[place].toTensorList().get(0).scalar_type());
    }
  }
  return "fp32";
}

/// The arguments of this call. A boxed one, as TorchScript makes them, shows the whole stack: they come last.
c10::ArrayRef<const c10::IValue> arguments_of(const at::RecordFunction& function) {
  const auto inputs = function.inputs();
  const size_t count = std::min(inputs.size(), function.num_inputs());
  return inputs.slice(inputs.size() - count);
}

}  // namespace

OperatorCall read_call(const at::RecordFunction& function, const std::vector<size_t>& values_of,
                       size_t product_at) {
  OperatorCall call;
  call.name = function.name();
  const auto inputs = arguments_of(function);
  call.arguments.reserve(inputs.size());
  for (const c10::IValue& input : inputs) {
    call.arguments.push_back(read_argument(input));
  }
  call.complex_values = std::any_of(inputs.begin(), inputs.end(), is_complex);
  call.precision = precision_from(inputs, product_at);
  for (const size_t place : values_of) {
    if (find_tensor(call, place) != nullptr) {
      std::get<TensorShape>(call.arguments[place]).values = values_of_tensor(inputs[place].toTensor());
    }
  }
  return call;
}

}  // namespace flopmark
