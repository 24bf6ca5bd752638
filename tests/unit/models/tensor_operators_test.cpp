#include "models/tensor_operators.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace flopmark {
namespace {

bool is_string(const c10::TypePtr& type) {
  const auto optional = type->cast<c10::OptionalType>();
  return (optional ? optional->getElementType() : type)->kind() == c10::TypeKind::StringType;
}

/// Names of text arguments of every operator that an exported graph may call, and how many operators that
/// are.
std::set<std::string> text_arguments(size_t& operators) {
  std::set<std::string> names;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    const bool annotates = name.name.rfind("profiler::", 0) == 0;  // for a trace that nobody takes
    if (!op || annotates || refuses_operator(name.name) || wants_more_than_tensors(op->schema())) continue;
    ++operators;
    for (const c10::Argument& argument : op->schema().arguments()) {
      if (is_string(argument.type())) names.insert(argument.name());
    }
  }
  return names;
}

// What text could do, only these could ask for; a LibTorch with another is to be looked at.
TEST(TensorOperators, TextOnlyChoosesAmongKindsOfArithmetic) {
  size_t operators = 0;
  const std::set<std::string> found = text_arguments(operators);
  const std::set<std::string> harmless = {
      "UPLO",     "a",        "activation",   "algorithm",     "api_name", "approximate",   "assert_msg", "b",
      "driver",   "equation", "indexing",     "interpolation", "mode",     "norm",          "ord",        "p",
      "pad_mode", "padding",  "padding_mode", "padding_side",  "reduce",   "rounding_mode", "side"};
  std::set<std::string> unknown;
  for (const std::string& name : found) {
    if (harmless.count(name) == 0) unknown.insert(name);
  }
  EXPECT_THAT(unknown, ::testing::IsEmpty());
  EXPECT_GT(operators, 1500U);
}

TEST(TensorOperators, FilesProcessesAndTheTerminalAreRefused) {
  for (const char* name :
       {"aten::from_file", "aten::save", "aten::_print", "prim::Print", "c10d::allreduce_",
        "_c10d_functional::all_reduce", "quantized::linear", "mylib::anything", "os.system", ""}) {
    EXPECT_TRUE(refuses_operator(name)) << name;
  }
  for (const char* harmless : {"aten::mm", "aten::_unsafe_view", "aten::_unsafe_index", "aten::set_dim"}) {
    EXPECT_FALSE(refuses_operator(harmless)) << harmless;
  }
}

// They take their caller's word for sizes or indices, and then read and write beyond a tensor.
TEST(TensorOperators, WhatTrustsItsCallerIsRefused) {
  for (const char* name :
       {"aten::_reshape_alias", "aten::set_data", "aten::set_", "aten::_fused_sgd_", "aten::_fused_adamw_",
        "aten::_sparse_coo_tensor_unsafe", "aten::_backward", "aten::_nested_view_from_buffer"}) {
    EXPECT_TRUE(refuses_operator(name)) << name;
  }
}

}  // namespace
}  // namespace flopmark
