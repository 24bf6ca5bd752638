#include "models/exported_arguments.h"

#include <ATen/ScalarOps.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "models/exported_schema.h"

namespace flopmark {
namespace {

using c10::IValue;
using c10::TypeKind;
using nlohmann::json;
using As = ArgumentPlan::As;
using Form = ArgumentPlan::Form;

[[noreturn]] void refuse_kind(const std::string& kind, const c10::Type& type) {
  throw std::runtime_error(fmt::format("is given {}, expected {}", kind, type.str()));
}

bool is_one_of(const std::string& kind, std::initializer_list<const char*> kinds) {
  return std::any_of(kinds.begin(), kinds.end(), [&](const char* known) { return kind == known; });
}

/// {"as_name": "s"} or {"as_int": 3}.
ValueSource symbol_source(const json& value, const ArgumentScope& scope) {
  const UnionValue given = union_value(value);
  if (given.kind == "as_name") return {scope.slot(given.value.get_ref<const std::string&>()), {}};
  if (given.kind == "as_int") return {-1, exported_int(given.value)};
  if (given.kind == "as_float") return {-1, exported_float(given.value)};
  if (given.kind == "as_bool") return {-1, given.value.get<bool>()};
  throw std::runtime_error(fmt::format("a symbolic number is given {}", given.kind));
}

/// A number, a flag or one of the enumerations that operators take as whole numbers; nothing for other kinds.
std::optional<ValueSource> plain_source(const UnionValue& given, const ArgumentScope& scope) {
  const auto& [kind, value] = given;
  if (kind == "as_int") return ValueSource{-1, exported_int(value)};
  if (kind == "as_float") return ValueSource{-1, exported_float(value)};
  if (kind == "as_bool") return ValueSource{-1, value.get<bool>()};
  if (kind == "as_complex") {
    const c10::complex<double> number(exported_float(value.at("real")), exported_float(value.at("imag")));
    return ValueSource{-1, number};
  }
  if (is_one_of(kind, {"as_sym_int", "as_sym_float", "as_sym_bool"})) return symbol_source(value, scope);
  if (kind == "as_scalar_type") return ValueSource{-1, static_cast<int64_t>(exported_dtype(value))};
  if (kind == "as_layout") return ValueSource{-1, static_cast<int64_t>(exported_layout(value))};
  if (kind == "as_memory_format") return ValueSource{-1, static_cast<int64_t>(exported_memory_format(value))};
  return std::nullopt;
}

int tensor_slot(const json& value, const ArgumentScope& scope) {
  return scope.slot(value.at("name").get_ref<const std::string&>());
}

/// Devices of the graph become that of the run; meta, which has no values anywhere, stays.
c10::Device mapped_device(const json& value, const ArgumentScope& scope) {
  return value.at("type") == "meta" ? c10::Device(c10::kMeta) : scope.device;
}

/// The tensor that an operator makes of a number given in a tensor's place.
at::Tensor number_tensor(const IValue& number) {
  return at::native::wrapped_scalar_tensor(number.toScalar());
}

IValue converted(const IValue& value, As as) {
  if (as == As::tensor && !value.isTensor() && !value.isNone()) return number_tensor(value);
  if (as == As::real && value.isInt()) return static_cast<double>(value.toInt());
  return value;
}

bool is_constant(const ArgumentPlan& plan) {
  return std::all_of(plan.parts.begin(), plan.parts.end(), [](const ValueSource& s) { return s.slot < 0; });
}

/// A constant need not be made again in every step.
ArgumentPlan folded(ArgumentPlan plan) {
  if (!is_constant(plan)) return plan;
  IValue value = plan.value({});
  return {.parts = {{-1, std::move(value)}}};
}

bool fits(const IValue& constant, TypeKind kind) {
  switch (kind) {
    case TypeKind::TensorType:
      return true;  // a number becomes one
    case TypeKind::NumberType:
      return constant.isScalar();
    case TypeKind::FloatType:
      return constant.isInt() || constant.isDouble();
    case TypeKind::ComplexType:
      return constant.isComplexDouble();
    case TypeKind::BoolType:
      return constant.isBool();
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return constant.isInt();
    default:
      return false;
  }
}

As conversion(TypeKind kind) {
  return kind == TypeKind::TensorType ? As::tensor : kind == TypeKind::FloatType ? As::real : As::given;
}

ArgumentPlan plan_single(const UnionValue& given, const c10::Type& type, const ArgumentScope& scope) {
  const auto& [kind, value] = given;
  const bool for_tensor = type.kind() == TypeKind::TensorType;
  if (for_tensor && kind == "as_tensor") return {.parts = {{tensor_slot(value, scope), {}}}};
  if (for_tensor && kind == "as_none") return {.parts = {{-1, at::Tensor()}}};
  if (type.kind() == TypeKind::StringType && kind == "as_string") {
    return {.parts = {{-1, value.get<std::string>()}}};
  }
  if (type.kind() == TypeKind::DeviceObjType && kind == "as_device") {
    return {.parts = {{-1, mapped_device(value, scope)}}};
  }
  const auto number = plain_source(given, scope);
  if (!number || (number->slot < 0 && !fits(number->constant, type.kind()))) refuse_kind(kind, type);
  if (number->slot >= 0 && !fits(IValue(1), type.kind()) && !fits(IValue(true), type.kind())) {
    refuse_kind(kind, type);
  }
  return folded({.as = conversion(type.kind()), .parts = {*number}});
}

Form list_form(const c10::Type& element) {
  switch (element.kind()) {
    case TypeKind::TensorType:
      return Form::tensors;
    case TypeKind::OptionalType:
      return Form::optional_tensors;
    case TypeKind::FloatType:
      return Form::floats;
    case TypeKind::BoolType:
      return Form::bools;
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return Form::ints;
    default:
      throw std::runtime_error(fmt::format("wants a list of {}, which is not made here", element.str()));
  }
}

/// One entry of a serialized list; `list` tells how they are written.
ValueSource list_entry(const std::string& list, const json& entry, const ArgumentScope& scope) {
  if (list == "as_ints") return {-1, exported_int(entry)};
  if (list == "as_floats") return {-1, exported_float(entry)};
  if (list == "as_bools") return {-1, entry.get<bool>()};
  if (list == "as_tensors") return {tensor_slot(entry, scope), {}};
  if (list == "as_optional_tensors") {
    const UnionValue given = union_value(entry);
    return given.kind == "as_none" ? ValueSource{} : ValueSource{tensor_slot(given.value, scope), {}};
  }
  if (is_one_of(list, {"as_sym_ints", "as_sym_floats", "as_sym_bools"})) return symbol_source(entry, scope);
  throw std::runtime_error(fmt::format("is given {}, which is no list that is read here", list));
}

bool entry_fits(const ValueSource& entry, Form form) {
  const IValue& value = entry.constant;
  switch (form) {
    case Form::ints:
      return entry.slot >= 0 || value.isInt();
    case Form::floats:
      return entry.slot >= 0 || value.isInt() || value.isDouble();
    case Form::bools:
      return entry.slot >= 0 || value.isBool();
    case Form::optional_tensors:
      return entry.slot >= 0 || value.isNone();
    default:
      return entry.slot >= 0;
  }
}

ArgumentPlan plan_list(const UnionValue& given, const c10::Argument& schema, const c10::Type& element,
                       const ArgumentScope& scope) {
  ArgumentPlan plan{.form = list_form(element)};
  plan.as = plan.form == Form::floats ? As::real : As::given;
  if (given.value.is_array()) {
    for (const json& entry : given.value) plan.parts.push_back(list_entry(given.kind, entry, scope));
  } else if (const auto one = plain_source(given, scope)) {
    plan.parts.assign(static_cast<size_t>(std::max(schema.N().value_or(1), 1)), *one);  // int[2] given 3
  } else {
    refuse_kind(given.kind, *schema.type());
  }
  const bool all_fit = std::all_of(plan.parts.begin(), plan.parts.end(),
                                   [&](const ValueSource& part) { return entry_fits(part, plan.form); });
  if (!all_fit) refuse_kind(given.kind, *schema.type());
  return folded(std::move(plan));
}

template <typename T, typename Read>
IValue list_of(const std::vector<IValue>& values, Read read) {
  c10::List<T> list;
  list.reserve(values.size());
  for (const IValue& value : values) list.push_back(read(value));
  return list;
}

/// A dtype, layout or memory format is a whole number to the dispatcher, which does not look whether there is
/// one of that number.
void check_enumeration(const std::string& kind, const c10::Type& declared) {
  if (const auto* optional = declared.castRaw<c10::OptionalType>()) {
    return check_enumeration(kind, *optional->getElementType());
  }
  const char* wanted = declared.kind() == TypeKind::ScalarTypeType     ? "as_scalar_type"
                       : declared.kind() == TypeKind::LayoutType       ? "as_layout"
                       : declared.kind() == TypeKind::MemoryFormatType ? "as_memory_format"
                                                                       : nullptr;
  if (wanted != nullptr && kind != wanted) refuse_kind(kind, declared);
}

IValue made_list(Form form, const std::vector<IValue>& values) {
  switch (form) {
    case Form::tensors:
      return list_of<at::Tensor>(values, [](const IValue& v) { return v.toTensor(); });
    case Form::optional_tensors:
      return list_of<std::optional<at::Tensor>>(values,
                                                [](const IValue& v) { return v.toOptional<at::Tensor>(); });
    case Form::floats:
      return list_of<double>(values, [](const IValue& v) { return v.toDouble(); });
    case Form::bools:
      return list_of<bool>(values, [](const IValue& v) { return v.toBool(); });
    default:
      return list_of<int64_t>(values, [](const IValue& v) { return v.toInt(); });
  }
}

}  // namespace

IValue ArgumentPlan::value(const std::vector<IValue>& slots) const {
  const auto part_value = [&](const ValueSource& part) {
    return converted(part.slot < 0 ? part.constant : slots[static_cast<size_t>(part.slot)], as);
  };
  if (form == Form::value) return part_value(parts.front());
  std::vector<IValue> values;
  values.reserve(parts.size());
  for (const ValueSource& part : parts) values.push_back(part_value(part));
  return made_list(form, values);
}

ArgumentPlan plan_argument(const json& argument, const c10::Argument& schema, const ArgumentScope& scope) {
  const UnionValue given = union_value(argument);
  if (given.kind != "as_none") check_enumeration(given.kind, *schema.real_type());
  c10::TypePtr type = schema.type();
  if (const auto optional = type->cast<c10::OptionalType>()) {
    if (given.kind == "as_none") return {.parts = {ValueSource{}}};
    type = optional->getElementType();
    if (given.kind == "as_optional_tensor") {
      const UnionValue inside = union_value(given.value);
      if (inside.kind == "as_none") return {.parts = {ValueSource{}}};
      return plan_single(inside, *type, scope);
    }
  }
  if (const auto list = type->cast<c10::ListType>()) {
    return plan_list(given, schema, *list->getElementType(), scope);
  }
  return plan_single(given, *type, scope);
}

ValueSource number_source(const json& argument, const ArgumentScope& scope) {
  const UnionValue given = union_value(argument);
  const auto number = plain_source(given, scope);
  if (!number) throw std::runtime_error(fmt::format("a number is given {}", given.kind));
  return *number;
}

}  // namespace flopmark
