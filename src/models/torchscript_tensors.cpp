#include "models/torchscript_tensors.h"

#include <fmt/format.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>

#include <utility>

#include "flops/strided_span.h"

namespace flopmark {
namespace {

bool is_backed(const torch::Tensor& tensor, const WatchedReads& reads) {
  if (!tensor.defined()) return true;
  if (tensor.layout() != torch::kStrided || tensor.is_quantized()) return false;
  const auto span = strided_span(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  if (!span) return false;
  const size_t read_bytes = reads.bytes_at(tensor.storage().data());
  return static_cast<size_t>(*span) <= read_bytes / tensor.element_size();
}

/// Whatever lies in it: lists, dictionaries, other modules.
bool are_backed(const c10::IValue& value, const WatchedReads& reads) {
  bool all = true;
  value.visit([&](const c10::IValue& inner) {
    if (inner.isTensor()) all = all && is_backed(inner.toTensor(), reads);
    return !all;
  });
  return all;
}

bool are_backed(c10::ArrayRef<const torch::jit::Block*> blocks, const WatchedReads& reads) {
  for (const torch::jit::Block* block : blocks) {
    for (const torch::jit::Node* node : block->nodes()) {
      if (node->kind() == torch::jit::prim::Constant) {
        const auto value = torch::jit::toIValue(node->output());
        if (value && !are_backed(*value, reads)) return false;
      }
      if (!are_backed(node->blocks(), reads)) return false;
    }
  }
  return true;
}

}  // namespace

WatchedReads::WatchedReads(std::shared_ptr<caffe2::serialize::ReadAdapterInterface> file)
    : file_(std::move(file)) {}

size_t WatchedReads::size() const {
  return file_->size();
}

size_t WatchedReads::read(uint64_t pos, void* target, size_t bytes, const char* what) const {
  return bytes_[target] = file_->read(pos, target, bytes, what);
}

size_t WatchedReads::bytes_at(const void* place) const {
  const auto found = bytes_.find(place);
  return found == bytes_.end() ? 0 : found->second;
}

std::string unbacked_tensor(const torch::jit::Module& module, const WatchedReads& reads) {
  for (const auto& attribute : module.named_attributes(/*recurse=*/true)) {
    if (attribute.value.isObject()) continue;  // its attributes come by themselves
    if (!are_backed(attribute.value, reads)) return attribute.name;
  }
  for (torch::jit::Function* function : module._ivalue()->compilation_unit()->get_functions()) {
    torch::jit::GraphFunction* graph_function = torch::jit::tryToGraphFunction(*function);
    if (graph_function == nullptr || are_backed(c10::ArrayRef<const torch::jit::Block*>(graph_function->graph()->block()), reads)) continue;
    return fmt::format("a constant of {}", function->qualname().qualifiedName());
  }
  return "";
}

}  // namespace flopmark
