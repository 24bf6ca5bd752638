#include "models/exported_graph.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "config/key_value.h"
#include "models/exported_call.h"
#include "models/exported_schema.h"
#include "models/model_file.h"

namespace flopmark {
namespace {

using nlohmann::json;

constexpr int kDeepestGraph = 16;
constexpr const char* kHigherOrder = "torch.ops.higher_order.";

/// Checks of what was true at export: under autocast or on another device it is not, and nothing is computed.
bool is_only_a_check(const std::string& target) {
  return target == "torch.ops.aten._assert_tensor_metadata.default" ||
         target == "torch.ops.aten.sym_constrain_range.default" ||
         target == "torch.ops.aten.sym_constrain_range_for_size.default";
}

std::string target_of(const json& node) {
  return node.at("target").get<std::string>();
}

std::string name_of(const json& node) {
  const auto name = node.find("name");
  return name != node.end() && name->is_string() ? name->get<std::string>() : "without a name";
}

/// Commas inside brackets belong to a type's name.
std::vector<std::string> split_entry(const std::string& entry) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : entry) {
    depth += static_cast<int>(c == '(' || c == '[') - static_cast<int>(c == ')' || c == ']');
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// The second call of a module has the path conv@1.
std::string without_call_number(const std::string& path) {
  const size_t at = path.rfind('@');
  const bool number = at != std::string::npos && at + 1 < path.size() &&
                      path.find_first_not_of("0123456789", at + 1) == std::string::npos;
  return number ? path.substr(0, at) : path;
}

/// m.conv1 of "L__self__,,Net;L__self__m.conv1,m.conv1,torch.nn.modules.conv.Conv2d": key, path and type of
/// every module around the node, the innermost last.
std::string module_path(const json& node) {
  const auto metadata = node.find("metadata");
  if (metadata == node.end() || !metadata->is_object()) return "";
  const auto stack = metadata->find("nn_module_stack");
  if (stack == metadata->end() || !stack->is_string()) return "";
  const auto& text = stack->get_ref<const std::string&>();
  const std::vector<std::string> parts = split_entry(text.substr(text.rfind(';') + 1));
  return parts.size() == 3 ? without_call_number(parts[1]) : "";
}

/// The names of a list of results, flat; empty for one that has none.
std::vector<std::string> flat_names(const json& results) {
  std::vector<std::string> names;
  for (const json& result : results) {
    const auto [kind, value] = union_value(result);
    if (kind == "as_tensor") {
      names.push_back(value.at("name").get<std::string>());
    } else if (kind == "as_tensors") {
      for (const json& tensor : value) names.push_back(tensor.at("name").get<std::string>());
    } else if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") {
      names.push_back(value.at("as_name").get<std::string>());
    } else if (kind == "as_none") {
      names.emplace_back();
    } else {
      throw std::runtime_error(fmt::format("its result is given {}", kind));
    }
  }
  return names;
}

/// The name of a value that a graph is given; empty for a constant, which its nodes hold themselves.
std::string value_name(const json& argument) {
  const auto [kind, value] = union_value(argument);
  if (kind == "as_tensor") return value.at("name").get<std::string>();
  const bool symbolic = kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool";
  return symbolic && value.contains("as_name") ? value.at("as_name").get<std::string>() : "";
}

const json& argument_at(const json& node, size_t place, const std::string& kind) {
  const UnionValue given = union_value(node.at("inputs").at(place).at("arg"));
  if (given.kind != kind) {
    throw std::runtime_error(
        fmt::format("its argument {} is given {}, expected {}", place, given.kind, kind));
  }
  return given.value;
}

/// torch.autocast(device, dtype, enabled, cache_enabled) of a region.
AutocastOptions autocast_of(const json& node, const torch::Device& device) {
  const auto [kind, dtype] = union_value(node.at("inputs").at(1).at("arg"));
  AutocastOptions options = AutocastOptions::current(device.type());
  options.device = device.type();
  options.enabled = argument_at(node, 2, "as_bool").get<bool>();
  if (kind == "as_scalar_type") options.dtype = exported_dtype(dtype);
  return options;
}

}  // namespace

int GraphCompiler::define(const std::string& name) {
  const int slot = program_.slots++;
  if (name.empty() || !names_.emplace(name, slot).second) {
    throw std::runtime_error(fmt::format("the name {} is given twice", quoted_text(name)));
  }
  return slot;
}

int GraphCompiler::slot(const std::string& name) const {
  const auto found = names_.find(name);
  if (found == names_.end()) throw std::runtime_error(fmt::format("nothing is named {}", quoted_text(name)));
  return found->second;
}

ArgumentScope GraphCompiler::scope() const {
  return {[this](const std::string& name) { return slot(name); }, device_};
}

Instruction GraphCompiler::begin(const json& node, Instruction::Kind kind) const {
  return {.kind = kind, .name = name_of(node), .target = target_of(node), .module = module_path(node)};
}

void GraphCompiler::add_nodes(const json& graph) {
  for (const json& node : graph.at("nodes")) {
    try {
      add_node(node);
    } catch (const std::exception& error) {
      const std::string inside = reason_line(error);
      if (inside.rfind("node ", 0) == 0) throw;  // of an inner graph, already told
      throw std::runtime_error(fmt::format("node {}: {}", quoted_text(name_of(node)), inside));
    }
  }
}

void GraphCompiler::add_node(const json& node) {
  const std::string target = target_of(node);
  if (is_only_a_check(target)) return;
  if (target == std::string(kHigherOrder) + "wrap_with_set_grad_enabled") {
    Instruction enter = begin(node, Instruction::Kind::enter_grad);
    enter.grad_enabled = argument_at(node, 0, "as_bool").get<bool>();
    return add_region(node, std::move(enter), 1);
  }
  if (target == std::string(kHigherOrder) + "wrap_with_autocast") {
    Instruction enter = begin(node, Instruction::Kind::enter_autocast);
    enter.autocast = autocast_of(node, device_);
    return add_region(node, std::move(enter), 4);
  }
  if (target.rfind(kHigherOrder, 0) == 0) {
    throw std::runtime_error(fmt::format(
        "the higher-order operator {} is not run here; export the model without it", quoted_text(target)));
  }
  const SymbolicRow* arithmetic = find_symbolic_operator(target);
  return arithmetic != nullptr ? add_arithmetic(node, *arithmetic) : add_call(node, target);
}

void GraphCompiler::add_call(const json& node, const std::string& target) {
  Instruction instruction = begin(node, Instruction::Kind::call);
  instruction.op = find_operator(target);
  const c10::FunctionSchema& schema = instruction.op->schema();
  try {
    instruction.arguments = plan_arguments(node.at("inputs"), schema, scope());
    add_results(node, instruction);
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{}: {}", quoted_text(target), reason_line(error)));
  }
  program_.instructions.push_back(std::move(instruction));
}

/// Several results are named in order; a list of tensors tensor by tensor.
void GraphCompiler::add_results(const json& node, Instruction& instruction) {
  const json& results = node.at("outputs");
  const auto& returns = instruction.op->schema().returns();
  if (results.size() > returns.size()) {
    throw std::runtime_error(
        fmt::format("has {} results, the operator gives {}", results.size(), returns.size()));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string kind = union_value(results[i]).kind;
    const bool is_list = returns[i].type()->kind() == c10::TypeKind::ListType;
    if (kind != "as_none" && is_list != (kind == "as_tensors")) {
      throw std::runtime_error(
          fmt::format("its result is given {}, the operator gives {}", kind, returns[i].type()->str()));
    }
    std::vector<int>& slots = instruction.results.emplace_back();
    for (const std::string& name : flat_names(json::array({results[i]}))) {
      slots.push_back(name.empty() ? -1 : define(name));
    }
  }
}

void GraphCompiler::add_arithmetic(const json& node, const SymbolicRow& row) {
  Instruction instruction = begin(node, Instruction::Kind::arithmetic);
  instruction.symbolic = &row;
  const ArgumentScope scope = this->scope();
  for (const json& input : node.at("inputs")) {
    instruction.arguments.push_back({.parts = {number_source(input.at("arg"), scope)}});
  }
  const std::vector<std::string> names = flat_names(node.at("outputs"));
  if (instruction.arguments.size() != row.arguments || names.size() != 1) {
    throw std::runtime_error(fmt::format("{} has {} arguments and {} results, expected {} and 1", row.target,
                                         instruction.arguments.size(), names.size(), row.arguments));
  }
  instruction.results = {{define(names.front())}};
  program_.instructions.push_back(std::move(instruction));
}

/// Inlines a graph that runs under another mode: its names are bound to the outer values, and back.
void GraphCompiler::add_region(const json& node, Instruction enter, size_t graph_place) {
  if (++depth_ > kDeepestGraph) throw std::runtime_error("graphs are nested too deeply");
  const json& graph = argument_at(node, graph_place, "as_graph").at("graph");
  const json& inputs = graph.at("inputs");
  const json& outer = node.at("inputs");
  if (outer.size() - graph_place - 1 != inputs.size()) {
    throw std::runtime_error(fmt::format("gives {} values to a graph that takes {}",
                                         outer.size() - graph_place - 1, inputs.size()));
  }
  Names inner;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string taken = value_name(inputs[i]);
    if (!taken.empty()) inner.emplace(taken, slot(value_name(outer[graph_place + 1 + i].at("arg"))));
  }
  std::swap(names_, inner);
  program_.instructions.push_back(std::move(enter));
  add_nodes(graph);
  program_.instructions.push_back({.kind = Instruction::Kind::leave});
  std::swap(names_, inner);
  const std::vector<std::string> made = flat_names(graph.at("outputs")),
                                 named = flat_names(node.at("outputs"));
  if (made.size() != named.size()) throw std::runtime_error("has not as many results as its graph");
  for (size_t i = 0; i < made.size(); ++i) {
    const auto found = inner.find(made[i]);
    const bool is_new = found != inner.end() && names_.emplace(named[i], found->second).second;
    if (!named[i].empty() && !is_new) {
      throw std::runtime_error(fmt::format("its result {} is none of its graph", quoted_text(named[i])));
    }
  }
  --depth_;
}

}  // namespace flopmark
