#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>

#include "models/exported_program.h"

namespace flopmark {

/// Makes a program of a serialized graph: resolves its operators, plans their arguments, inlines its regions.
/// Only operators on tensors and numbers get into it.
class GraphCompiler {
 public:
  /// Every device in the graph becomes `device`.
  explicit GraphCompiler(const torch::Device& device) : device_(device) {}

  /// Names a new slot, such as that of a graph's input. @throws std::runtime_error if the name is taken.
  int define(const std::string& name);
  /// Adds the nodes of `graph`, whose inputs are defined. @throws std::runtime_error, with the node's name.
  void add_nodes(const nlohmann::json& graph);
  /// The slot of a name. @throws std::runtime_error if there is none.
  int slot(const std::string& name) const;

  ExportedProgram take() { return std::move(program_); }

 private:
  using Names = std::unordered_map<std::string, int>;

  void add_node(const nlohmann::json& node);
  void add_call(const nlohmann::json& node, const std::string& target);
  void add_arithmetic(const nlohmann::json& node, const SymbolicRow& row);
  void add_region(const nlohmann::json& node, Instruction enter, size_t graph_place);
  void add_results(const nlohmann::json& node, Instruction& instruction);
  Instruction begin(const nlohmann::json& node, Instruction::Kind kind) const;
  ArgumentScope scope() const;

  torch::Device device_;
  ExportedProgram program_;
  Names names_;  ///< of the graph that is being added: an inner one does not see the outer one's
  int depth_ = 0;
};

}  // namespace flopmark
