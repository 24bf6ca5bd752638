#include "models/torchscript_file.h"

#include <c10/util/Exception.h>
#include <caffe2/serialize/file_adapter.h>
#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "flopmark/error.h"

namespace flopmark {
namespace {

using caffe2::serialize::FileAdapter;
using caffe2::serialize::PyTorchStreamReader;

constexpr size_t kLongestReason = 300;

// Namespaces whose operators compute or annotate; what else is registered (rpc, cuda streams, a plug-in's
// own) is refused.
constexpr std::array<std::string_view, 4> kKnownNamespaces = {"aten", "prim", "profiler", "torchvision"};

// Of those namespaces, what touches files, processes or the terminal.
constexpr std::array<std::string_view, 8> kRefused = {
    "aten::from_file", "aten::save",     "prim::Print",      "prim::PythonOp",
    "prim::rpc_async", "prim::rpc_sync", "prim::rpc_remote", "prim::IgnoredPythonOp"};

[[noreturn]] void refuse_file(const std::string& path, const std::string& why) {
  throw judge_error(fmt::format("model.torchscript {}: {}", path, why));
}

/// The first line that says something, without LibTorch's stack trace.
std::string reason_line(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  text.erase(0, std::min(text.find_first_not_of(" \n"), text.size()));
  return text.substr(0, std::min(text.find('\n'), kLongestReason));
}

/// What the first bytes of a file tell before LibTorch sees it.
void check_beginning(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    refuse_file(path, "no such file; build it, or mend the path");
  if (!std::filesystem::is_regular_file(status)) refuse_file(path, "is not a regular file");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) refuse_file(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::array<char, 4> first{};
  stream.read(first.data(), first.size());
  const std::string_view begin(first.data(), static_cast<size_t>(stream.gcount()));
  if (begin.empty()) refuse_file(path, "is empty; save the model again with torch.jit.save");
  if (begin.front() == '\x80') {
    refuse_file(path, "is a Python pickle, not TorchScript; save the model with torch.jit.save");
  }
  if (begin.substr(0, 2) != "PK") {
    refuse_file(path, "is no TorchScript file (not a zip archive); save the model with torch.jit.save");
  }
}

std::string record_text(PyTorchStreamReader& reader, const std::string& name) {
  const auto [data, bytes] = reader.getRecord(name);
  return {static_cast<const char*>(data.get()), bytes};
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// What would run while LibTorch loads the file: __setstate__ of its classes, and classes written in C++.
void check_nothing_runs(const std::string& path, PyTorchStreamReader& reader) {
  for (const std::string& name : reader.getAllRecords()) {
    const bool code = name.rfind("code/", 0) == 0, pickle = name.find(".pkl") != std::string::npos;
    if (!code && !pickle) continue;
    const std::string text = record_text(reader, name);
    if (code && contains(text, "__setstate__")) {
      refuse_file(path,
                  "has a class with __setstate__, code that would run while it is loaded: refused; "
                  "save the model without it (quantized modules cannot be trained)");
    }
    // The name of a class may be cut in two anywhere in a pickle.
    if (contains(text, "torch.classes") || contains(text, "torch\nclasses")) {
      refuse_file(path, "uses classes written in C++ (torch.classes): refused; save the model without them");
    }
  }
}

void check_archive(const std::string& path) {
  PyTorchStreamReader reader(std::make_unique<FileAdapter>(path));
  if (reader.hasRecord("models/model.json")) {
    refuse_file(path, "is an archive of torch.export, not TorchScript; save the model with torch.jit.save");
  }
  if (!reader.hasRecord("constants.pkl")) {
    refuse_file(path,
                "is an archive of torch.save (a state dict or a pickled module), not TorchScript; save "
                "the model with torch.jit.save");
  }
  check_nothing_runs(path, reader);
}

bool is_refused(const std::string& name) {
  const std::string_view space = std::string_view(name).substr(0, name.find("::"));
  const bool known =
      std::find(kKnownNamespaces.begin(), kKnownNamespaces.end(), space) != kKnownNamespaces.end();
  return !known || std::find(kRefused.begin(), kRefused.end(), name) != kRefused.end();
}

std::string refused_in(c10::ArrayRef<const torch::jit::Block*> blocks);

std::string refused_in(const torch::jit::Node& node) {
  const std::string name = node.kind().toQualString();
  if (is_refused(name)) return name;
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
void check_operators(const std::string& path, const torch::jit::Module& module) {
  for (torch::jit::Function* function : module._ivalue()->compilation_unit()->get_functions()) {
    torch::jit::GraphFunction* graph_function = torch::jit::tryToGraphFunction(*function);
    if (graph_function == nullptr) continue;
    const std::string name = refused_operator(*graph_function->graph());
    if (!name.empty()) {
      refuse_file(path,
                  fmt::format("{} uses {}, which is no tensor arithmetic: refused; save the model without it",
                              function->qualname().qualifiedName(), name));
    }
  }
}

}  // namespace

std::string refused_operator(const torch::jit::Graph& graph) {
  return refused_in(graph.block());
}

torch::jit::Module load_torchscript(const std::string& path, const torch::Device& device) {
  check_beginning(path);
  try {
    check_archive(path);
    // From an adapter, not by name: by name LibTorch would try formats other than zip.
    auto module = torch::jit::load(std::make_shared<FileAdapter>(path), device, /*load_debug_files=*/false);
    check_operators(path, module);
    return module;
  } catch (const Error&) {
    throw;
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const std::exception& error) {
    const std::string reason = reason_line(error);
    const bool damaged = reason.find("central directory") != std::string::npos ||
                         reason.find("miniz") != std::string::npos ||
                         reason.find("PytorchStreamReader") != std::string::npos;
    refuse_file(path, damaged ? "cannot be loaded: it is cut short or damaged; copy it again, or save it "
                                "again with torch.jit.save"
                              : fmt::format("cannot be loaded: {}; save the model again with torch.jit.save",
                                            reason));
  }
}

}  // namespace flopmark
