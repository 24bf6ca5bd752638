// The rules against the operators that LibTorch really has: a rule reads arguments by place, and an operator
// that nobody thought of would be left out in silence.
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "flops/rules.h"

namespace flopmark {
namespace {

/// Schemas of all overloads of an operator.
std::vector<c10::FunctionSchema> schemas_of(std::string_view name) {
  std::vector<c10::FunctionSchema> schemas;
  for (const auto& operation : c10::Dispatcher::singleton().getAllOpNames()) {
    if (operation.name == name) {
      schemas.push_back(c10::Dispatcher::singleton()
                            .findSchemaOrThrow(name.data(), operation.overload_name.c_str())
                            .schema());
    }
  }
  return schemas;
}

/// The first overload that does not write to `out`, which shifts nothing but is never dispatched first.
const c10::FunctionSchema& plain_schema(const std::vector<c10::FunctionSchema>& schemas) {
  for (const auto& schema : schemas) {
    if (schema.overload_name().find("out") == std::string::npos) return schema;
  }
  return schemas.front();
}

TEST(RuleCoverage, AttentionRulesReadQueryKeyAndValue) {
  int checked = 0;
  for (const FlopRule& rule : attention_rules()) {
    const auto schemas = schemas_of(rule.name);
    if (schemas.empty()) continue;  // a newer or older LibTorch
    const auto& arguments = plain_schema(schemas).arguments();
    EXPECT_EQ(arguments.at(*rule.query_at).name(), "query") << rule.name;
    EXPECT_EQ(arguments.at(*rule.query_at + 1).name(), "key") << rule.name;
    EXPECT_EQ(arguments.at(*rule.query_at + 2).name(), "value") << rule.name;
    for (const size_t place : rule.values_of) {
      EXPECT_TRUE(std::regex_search(arguments.at(place).name(), std::regex("cum_seq_|cu_seqlens_")))
          << rule.name << " " << arguments.at(place).name();
    }
    ++checked;
  }
  EXPECT_GE(checked, 17);
}

/// A call of this schema with a flag, and nothing else, set: what a rule needs to tell causal attention.
std::vector<Argument> causal_call(const c10::FunctionSchema& schema, bool causal) {
  std::vector<Argument> arguments;
  for (const auto& argument : schema.arguments()) {
    const std::string& name = argument.name();
    if (name == "query" || name == "key" || name == "value" || name.starts_with("grad_out") ||
        name == "out") {
      arguments.emplace_back(TensorShape{.sizes = {1, 4, 4, 8}});
    } else if (name == "is_causal") {
      arguments.emplace_back(causal);
    } else if (name == "custom_mask_type") {
      arguments.emplace_back(int64_t{causal ? 1 : 0});
    } else if (name == "grad_input_mask") {
      arguments.emplace_back(std::vector<bool>{true, true, true, false});
    } else if (argument.type()->kind() == c10::TypeKind::BoolType) {
      arguments.emplace_back(!causal);  // to be misled by
    } else if (argument.type()->kind() == c10::TypeKind::FloatType) {
      arguments.emplace_back(0.5);
    } else {
      arguments.emplace_back();
    }
  }
  return arguments;
}

TEST(RuleCoverage, AttentionRulesReadTheCausalFlag) {
  int checked = 0;
  for (const FlopRule& rule : attention_rules()) {
    const auto schemas = schemas_of(rule.name);
    for (const auto& schema : schemas) {
      if (schema.overload_name().find("out") != std::string::npos) continue;
      for (const bool causal : {true, false}) {
        const OperatorCall call{.name = std::string(rule.name), .arguments = causal_call(schema, causal)};
        OperatorFlop flop;
        try {
          flop = count_call(rule, call);
        } catch (const std::invalid_argument&) {
          continue;  // packed sequences only
        }
        EXPECT_EQ(flop.causal, causal) << schema;
        ++checked;
      }
    }
  }
  EXPECT_GE(checked, 30);
}

/// Whether a part of the name says that it multiplies.
bool looks_computing(const std::string& name) {
  static const std::regex kPattern(
      "(^|_)(mm|bmm|addmm|baddbmm|matmul|gemm|conv|conv[123]d|convolution|depthwise[23]d?|attention|linear|"
      "lstm|"
      "gru|rnn|dot|vdot|einsum|bilinear|trilinear|cdist|fft|linalg|cholesky|svd|solve|qr|geqrf|lu|mv|outer|"
      "ger|"
      "addr|inverse|eig|eigh|encoder|decoder|multihead|tensordot|kron)(_|$)");
  return std::regex_search(name, kPattern);
}

/// Operators that look like computing and do not, or that do all of it through operators that are known.
const std::set<std::string>& harmless_or_wrapping() {
  static const std::set<std::string> kNames = {
#include "unit/flops/observe/wrapping_operators.inc"
  };
  return kNames;
}

TEST(RuleCoverage, EveryOperatorThatLooksLikeComputingIsKnown) {
  std::set<std::string> unknown;
  size_t seen = 0;
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& operation : dispatcher.getAllOpNames()) {
    if (!operation.name.starts_with("aten::")) continue;
    const std::string name = operation.name.substr(6);
    if (!looks_computing(name)) continue;
    ++seen;
    const auto handle = dispatcher.findOp(operation);
    const bool composite =
        handle && handle->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
    if (composite || built_in_rules().find(operation.name) != nullptr ||
        computes_without_rule(operation.name) || harmless_or_wrapping().count(name) == 1) {
      continue;
    }
    unknown.insert(name);
  }
  EXPECT_GT(seen, 200u);
  std::string list;
  for (const auto& name : unknown) list += "\"" + name + "\",\n";
  EXPECT_TRUE(unknown.empty()) << "give each a rule, or list it as computing or as harmless:\n" << list;
}

}  // namespace
}  // namespace flopmark
