#include "models/torchscript_file.h"

#include <caffe2/serialize/file_adapter.h>
#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/serialization/import.h>

#include <memory>
#include <string_view>

#include "config/key_value.h"
#include "flopmark/error.h"
#include "models/model_file.h"
#include "models/tensor_operators.h"
#include "models/torchscript_tensors.h"

namespace flopmark {
namespace {

using caffe2::serialize::FileAdapter;
using caffe2::serialize::PyTorchStreamReader;

/// What code and pickles of a model may unpack to; those of the largest public models take some MiB.
constexpr size_t kMostTextBytes = size_t{256} << 20;

std::string record_text(PyTorchStreamReader& reader, const std::string& name) {
  const auto [data, bytes] = reader.getRecord(name);
  return {static_cast<const char*>(data.get()), bytes};
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

bool is_code(const std::string& record) {
  return record.rfind("code/", 0) == 0;
}

bool is_pickle(const std::string& record) {
  return record.find(".pkl") != std::string::npos;
}

void check_text_size(const ModelFile& file, PyTorchStreamReader& reader) {
  size_t left = kMostTextBytes;
  for (const std::string& name : reader.getAllRecords()) {
    if (!is_code(name) && !is_pickle(name)) continue;
    const size_t bytes = reader.getRecordSize(name);
    if (bytes > left) {
      file.refuse(fmt::format("has code that unpacks to more than {} MiB: refused", kMostTextBytes >> 20));
    }
    left -= bytes;
  }
}

/// Of a record that is not compressed (torch.jit.save compresses none with values) it is known later how much
/// of it was read, and where to.
void check_values(const ModelFile& file, PyTorchStreamReader& reader, WatchedReads& reads) {
  for (const std::string& name : reader.getAllRecords()) {
    if (is_code(name) || is_pickle(name)) continue;
    if (reader.getRecordSize(name) > reads.size()) {
      file.refuse("unpacks to more than the file holds: refused; save it with torch.jit.save");
    }
    reads.forget();
    const auto [data, bytes] = reader.getRecord(name);
    const bool has_values = name.rfind("data/", 0) == 0 || name.rfind("constants/", 0) == 0;
    if (has_values && reads.bytes_at(data.get()) != bytes) {
      file.refuse("has compressed values, which torch.jit.save never writes: refused");
    }
  }
}

/// What would run while LibTorch loads the file: __setstate__ of its classes, and classes written in C++.
/// And what LibTorch builds before anybody can look at its sizes.
void check_nothing_runs(const ModelFile& file, PyTorchStreamReader& reader) {
  for (const std::string& name : reader.getAllRecords()) {
    if (!is_code(name) && !is_pickle(name)) continue;
    const std::string text = record_text(reader, name);
    if (is_code(name) && contains(text, "__setstate__")) {
      file.refuse(
          "has a class with __setstate__, code that would run while it is loaded: refused; "
          "save the model without it (quantized modules cannot be trained)");
    }
    if (contains(text, "\n_rebuild_qtensor") || contains(text, "\n_rebuild_sparse")) {
      file.refuse("has quantized or sparse tensors, which cannot be trained; save dense ones");
    }
    // The name of a class may be cut in two anywhere in a pickle.
    if (contains(text, "torch.classes") || contains(text, "torch\nclasses")) {
      file.refuse("uses classes written in C++ (torch.classes): refused; save the model without them");
    }
  }
}

void check_archive(const ModelFile& file) {
  const auto reads = std::make_shared<WatchedReads>(std::make_shared<FileAdapter>(file.path));
  PyTorchStreamReader reader(reads);
  if (reader.hasRecord("models/model.json")) {
    file.refuse("is an archive of torch.export, not TorchScript; name it with model.exported");
  }
  if (!reader.hasRecord("constants.pkl")) {
    file.refuse(
        "is an archive of torch.save (a state dict or a pickled module), not TorchScript; save "
        "the model with torch.jit.save");
  }
  check_text_size(file, reader);
  check_nothing_runs(file, reader);
  check_values(file, reader, *reads);
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
    const auto reads = std::make_shared<WatchedReads>(std::make_shared<FileAdapter>(path));
    auto module = torch::jit::load(reads, torch::kCPU, /*load_debug_files=*/false);
    check_operators(file, module);
    if (const std::string name = unbacked_tensor(module, *reads); !name.empty()) {
      file.refuse(
          fmt::format("its tensor {} reaches beyond the values that the file holds for it: it is "
                      "damaged; save it again with torch.jit.save",
                      quoted_text(name)));
    }
    if (!device.is_cpu()) module.to(device);
    return module;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    file.refuse(error);
  }
}

}  // namespace flopmark
