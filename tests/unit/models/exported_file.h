#pragma once

#include <ATen/core/ivalue.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/types.h>

#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "unit/models/script_modules.h"

namespace flopmark::test {

using nlohmann::json;

inline json tensor_arg(const std::string& name) {
  return {{"as_tensor", {{"name", name}}}};
}
inline json tensors_arg(const std::vector<std::string>& names) {
  json list = json::array();
  for (const std::string& name : names) list.push_back({{"name", name}});
  return {{"as_tensors", list}};
}
inline json symbol_arg(const std::string& name) {
  return {{"as_sym_int", {{"as_name", name}}}};
}

/// An argument by its name.
using NamedArg = std::pair<std::string, json>;

/// A file of torch.export.save as Python writes it, made by hand: the names of its parameters and buffers are
/// those of the graph's inputs.
class ExportedFile {
 public:
  ExportedFile() {
    program_ = json::parse(R"({"graph_module": {"graph": {"inputs": [], "outputs": [], "nodes": [],
      "tensor_values": {}, "sym_int_values": {}}, "signature": {"input_specs": [], "output_specs": []}},
      "range_constraints": {}, "schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"],
      "torch_version": "2.15.0"})");
  }

  /// Tensors of one storage share a record.
  ExportedFile& parameter(const std::string& name, const torch::Tensor& value) {
    add_spec("parameter", "parameter_name", name);
    weights_[name] = payload(value, true);
    return *this;
  }
  ExportedFile& buffer(const std::string& name, const torch::Tensor& value) {
    add_spec("buffer", "buffer_name", name);
    weights_[name] = payload(value, false);
    return *this;
  }
  ExportedFile& constant(const std::string& name, const torch::Tensor& value) {
    add_spec("tensor_constant", "tensor_constant_name", name);
    weights_[name] = payload(value, false);
    return *this;
  }
  /// `sizes`: whole numbers, or the names of symbols.
  ExportedFile& input(const std::string& name, const json& sizes, int dtype = 7) {
    json meta = {{"dtype", dtype},
                 {"sizes", json::array()},
                 {"strides", json::array()},
                 {"layout", 7},
                 {"storage_offset", {{"as_int", 0}}},
                 {"requires_grad", false},
                 {"device", {{"type", "cpu"}, {"index", nullptr}}}};
    for (const json& size : sizes) {
      if (size.is_number()) {
        meta["sizes"].push_back({{"as_int", size}});
      } else {
        const std::string expression =
            "Symbol('" + size.get<std::string>() + "', positive=True, integer=True)";
        meta["sizes"].push_back({{"as_expr", {{"expr_str", expression}, {"hint", {{"as_int", 2}}}}}});
      }
    }
    graph()["tensor_values"][name] = meta;
    specs().push_back({{"user_input", {{"arg", tensor_arg(name)}}}});
    return *this;
  }
  static json node_json(const std::string& target, const std::vector<NamedArg>& inputs, const json& outputs,
                        const std::string& module = "") {
    json node = {{"target", target}, {"inputs", json::array()}, {"outputs", outputs}};
    for (const auto& [name, argument] : inputs) {
      node["inputs"].push_back({{"name", name}, {"arg", argument}, {"kind", 1}});
    }
    node["name"] = "node_of_" + target.substr(target.rfind("ops.") == std::string::npos ? 0 : 10);
    node["metadata"] = {
        {"nn_module_stack", "L__self__,,Net;L__self__." + module + "," + module + ",Layer[int, str]"}};
    return node;
  }
  /// A node with one result, a tensor.
  ExportedFile& node(const std::string& target, const std::vector<NamedArg>& inputs,
                     const std::string& output, const std::string& module = "") {
    graph()["nodes"].push_back(node_json(target, inputs, json::array({tensor_arg(output)}), module));
    return *this;
  }
  ExportedFile& node(const json& node) {
    graph()["nodes"].push_back(node);
    return *this;
  }
  ExportedFile& result(const std::string& name) {
    program_["graph_module"]["signature"]["output_specs"].push_back(
        {{"user_output", {{"arg", tensor_arg(name)}}}});
    return *this;
  }
  ExportedFile& mutation(const std::string& buffer, const std::string& value) {
    program_["graph_module"]["signature"]["output_specs"].push_back(
        {{"buffer_mutation", {{"arg", {{"name", value}}}, {"buffer_name", buffer}}}});
    return *this;
  }
  /// What the model was exported with.
  ExportedFile& samples(const std::vector<torch::Tensor>& tensors) {
    std::vector<c10::IValue> values(tensors.begin(), tensors.end());
    const c10::IValue none(c10::Dict<std::string, at::Tensor>{});
    const auto arguments = c10::ivalue::Tuple::create(std::move(values));
    const auto bytes = torch::jit::pickle_save(c10::ivalue::Tuple::create({c10::IValue(arguments), none}));
    records_["data/sample_inputs/model.pt"] = {bytes.begin(), bytes.end()};
    return *this;
  }

  json& program() { return program_; }
  json& graph() { return program_["graph_module"]["graph"]; }
  json& specs() { return program_["graph_module"]["signature"]["input_specs"]; }
  json& weights() { return weights_; }
  std::map<std::string, std::string>& records() { return records_; }

  /// Writes the archive; a record of `records` with an empty name is left out.
  std::string write(const std::string& path) const {
    std::map<std::string, std::string> all = {
        {"models/model.json", program_.dump()},
        {"data/weights/model_weights_config.json", json{{"config", weights_}}.dump()},
        {"data/constants/model_constants_config.json", R"({"config": {}})"},
        {"archive_format", "pt2"},
        {"archive_version", "0"},
        {"byteorder", "little"}};
    for (const auto& [name, bytes] : records_) all[name] = bytes;
    write_records(path, all);
    return path;
  }
  static void write_records(const std::string& path, const std::map<std::string, std::string>& records,
                            bool compress = false) {
    caffe2::serialize::PyTorchStreamWriter writer(path);
    for (const auto& [name, bytes] : records) writer.writeRecord(name, bytes.data(), bytes.size(), compress);
    writer.writeEndOfFile();
  }

 private:
  void add_spec(const char* kind, const char* name_key, const std::string& name) {
    specs().push_back({{kind, {{"arg", {{"name", name}}}, {name_key, name}}}});
    if (std::string(kind) == "buffer") specs().back()[kind]["persistent"] = true;
  }

  static int serialized_dtype(torch::Dtype dtype) {
    static const std::map<torch::Dtype, int> kNumbers = {{torch::kFloat, 7},  {torch::kLong, 5},
                                                         {torch::kDouble, 8}, {torch::kComplexFloat, 10},
                                                         {torch::kBool, 12},  {torch::kBFloat16, 13}};
    return kNumbers.at(dtype);
  }

  static json sizes_json(at::IntArrayRef sizes) {
    json list = json::array();
    for (const int64_t size : sizes) list.push_back({{"as_int", size}});
    return list;
  }

  json payload(const torch::Tensor& value, bool is_param) {
    const auto [place, is_new] =
        storages_.emplace(value.storage().data(), "weight_" + std::to_string(storages_.size()));
    const auto* bytes = static_cast<const char*>(value.storage().data());
    records_["data/weights/" + place->second] = {bytes, value.storage().nbytes()};
    kept_.push_back(value);
    return {{"path_name", place->second},
            {"is_param", is_param},
            {"use_pickle", false},
            {"tensor_meta",
             {{"dtype", serialized_dtype(value.scalar_type())},
              {"sizes", sizes_json(value.sizes())},
              {"strides", sizes_json(value.strides())},
              {"storage_offset", {{"as_int", value.storage_offset()}}},
              {"requires_grad", value.requires_grad()},
              {"device", {{"type", "cpu"}, {"index", nullptr}}},
              {"layout", 7}}}};
  }

  json program_, weights_ = json::object();
  std::map<std::string, std::string> records_;
  std::map<const void*, std::string> storages_;
  std::vector<torch::Tensor> kept_;  ///< so that no two storages have one address
};

/// sum(x w^T), of x [2, 3] and w [4, 3].
inline ExportedFile exported_linear(const torch::Tensor& w) {
  ExportedFile file;
  file.parameter("w", w).input("x", {2, w.size(1)});
  file.node("torch.ops.aten.linear.default", {{"input", tensor_arg("x")}, {"weight", tensor_arg("w")}}, "y",
            "head");
  file.node("torch.ops.aten.sum.default", {{"self", tensor_arg("y")}}, "loss").result("loss");
  return file;
}

/// A batch of these inputs.
inline Batch batch_of(const std::vector<torch::Tensor>& inputs) {
  return {inputs, inputs.front().dim() > 0 ? inputs.front().size(0) : 1, 0, 0};
}

inline std::string file_bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace flopmark::test
