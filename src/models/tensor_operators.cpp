#include "models/tensor_operators.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace flopmark {
namespace {

// Namespaces whose operators compute or annotate; what else is registered (rpc, collectives, cuda streams, a
// plug-in's own) is refused.
constexpr std::array<std::string_view, 5> kKnownNamespaces = {"aten", "prim", "prims", "profiler",
                                                              "torchvision"};

// Of those namespaces, what touches files, processes or the terminal, or trusts its caller with sizes.
constexpr std::array<std::string_view, 13> kRefused = {
    "aten::_reshape_alias", "aten::set_data",   "aten::set_",           "aten::_backward", "aten::from_file",
    "aten::save",           "aten::_print",     "prim::Print",          "prim::PythonOp",  "prim::rpc_async",
    "prim::rpc_sync",       "prim::rpc_remote", "prim::IgnoredPythonOp"};

bool trusts_its_caller(std::string_view name) {
  return name.starts_with("aten::_fused_") || name.starts_with("aten::_nested_view_from_") ||
         name.ends_with("_tensor_unsafe");
}

bool names_file(const c10::Argument& argument) {
  return argument.name().find("file") != std::string::npos;
}

bool is_plain(const c10::TypePtr& type) {
  switch (type->kind()) {
    case c10::TypeKind::OptionalType:
      return is_plain(type->expectRef<c10::OptionalType>().getElementType());
    case c10::TypeKind::ListType:
      return is_plain(type->expectRef<c10::ListType>().getElementType());
    case c10::TypeKind::StorageType:
    case c10::TypeKind::StreamObjType:
    case c10::TypeKind::ClassType:
    case c10::TypeKind::AnyClassType:
    case c10::TypeKind::AnyType:
    case c10::TypeKind::PyObjectType:
    case c10::TypeKind::CapsuleType:
    case c10::TypeKind::FunctionType:
    case c10::TypeKind::RRefType:
    case c10::TypeKind::FutureType:
      return false;
    default:
      return true;
  }
}

}  // namespace

bool refuses_operator(const std::string& name) {
  const std::string_view space = std::string_view(name).substr(0, name.find("::"));
  const bool known =
      std::find(kKnownNamespaces.begin(), kKnownNamespaces.end(), space) != kKnownNamespaces.end();
  return !known || trusts_its_caller(name) ||
         std::find(kRefused.begin(), kRefused.end(), name) != kRefused.end();
}

bool wants_more_than_tensors(const c10::FunctionSchema& schema) {
  return std::any_of(schema.arguments().begin(), schema.arguments().end(), [](const c10::Argument& argument) {
    return names_file(argument) || !is_plain(argument.type());
  });
}

}  // namespace flopmark
