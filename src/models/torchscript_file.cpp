#include "models/torchscript_file.h"

#include <caffe2/serialize/file_adapter.h>
#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/serialization/import.h>

#include <string_view>

#include "flopmark/error.h"
#include "models/model_file.h"
#include "models/tensor_operators.h"

namespace flopmark {
namespace {

using caffe2::serialize::FileAdapter;
using caffe2::serialize::PyTorchStreamReader;

std::string record_text(PyTorchStreamReader& reader, const std::string& name) {
  const auto [data, bytes] = reader.getRecord(name);
  return {static_cast<const char*>(data.get()), bytes};
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// What would run while LibTorch loads the file: __setstate__ of its classes, and classes written in C++.
void check_nothing_runs(const ModelFile& file, PyTorchStreamReader& reader) {
  for (const std::string& name : reader.getAllRecords()) {
    const bool code = name.rfind("code/", 0) == 0, pickle = name.find(".pkl") != std::string::npos;
    if (!code && !pickle) continue;
    const std::string text = record_text(reader, name);
    if (code && contains(text, "__setstate__")) {
      file.refuse(
          "has a class with __setstate__, code that would run while it is loaded: refused; "
          "save the model without it (quantized modules cannot be trained)");
    }
    // The name of a class may be cut in two anywhere in a pickle.
    if (contains(text, "torch.classes") || contains(text, "torch\nclasses")) {
      file.refuse("uses classes written in C++ (torch.classes): refused; save the model without them");
    }
  }
}

void check_archive(const ModelFile& file) {
  PyTorchStreamReader reader(std::make_unique<FileAdapter>(file.path));
  if (reader.hasRecord("models/model.json")) {
    file.refuse("is an archive of torch.export, not TorchScript; name it with model.exported");
  }
  if (!reader.hasRecord("constants.pkl")) {
    file.refuse(
        "is an archive of torch.save (a state dict or a pickled module), not TorchScript; save "
        "the model with torch.jit.save");
  }
  check_nothing_runs(file, reader);
}

std::string refused_in(c10::ArrayRef<const torch::jit::Block*> blocks);

std::string refused_in(const torch::jit::Node& node) {
  const std::string name = node.kind().toQualString();
  if (refuses_operator(name)) return name;
  for (const auto attribute : node.attributeNames()) {
    if (node.kindOf(attribute) != torch::jit::AttributeKind::g) continue;
    if (const std::string inside = refused_operator(*node.g(attribute)); !inside.empty()) return inside;
  }
  return refused_in(node.blocks());
}

std::string refused_in(c10::ArrayRef<const torch::jit::Block*> blocks) {
  for (const torch::jit::Block* block : blocks) {
    for (const torch::jit::Node* node : block->nodes()) {
      if (std::string name = refused_in(*node); !name.empty()) return name;
    }
  }
  return "";
}

/// Every function that the file defines, called or not; a graph is made of its source here at the latest.
void check_operators(const ModelFile& file, const torch::jit::Module& module) {
  for (torch::jit::Function* function : module._ivalue()->compilation_unit()->get_functions()) {
    torch::jit::GraphFunction* graph_function = torch::jit::tryToGraphFunction(*function);
    if (graph_function == nullptr) continue;
    const std::string name = refused_operator(*graph_function->graph());
    if (!name.empty()) {
      file.refuse(fmt::format("{} uses {}, which is no tensor arithmetic: refused; save the model without it",
                              function->qualname().qualifiedName(), name));
    }
  }
}

}  // namespace

std::string refused_operator(const torch::jit::Graph& graph) {
  return refused_in(graph.block());
}

torch::jit::Module load_torchscript(const std::string& path, const torch::Device& device) {
  const ModelFile file{path, "model.torchscript", "TorchScript", "torch.jit.save"};
  check_beginning(file);
  try {
    check_archive(file);
    // From an adapter, not by name: by name LibTorch would try formats other than zip.
    auto module = torch::jit::load(std::make_shared<FileAdapter>(path), device, /*load_debug_files=*/false);
    check_operators(file, module);
    return module;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    file.refuse(error);
  }
}

}  // namespace flopmark
