#include "flops/observe/call_context.h"

#include <torch/csrc/jit/runtime/interpreter.h>

#include "flops/observe/module_scope.h"

namespace flopmark {

thread_local std::optional<AttentionScope> open_attention;
thread_local std::optional<CallContext> open_backward;

namespace {

/// Path of the TorchScript module that runs in this thread: its frames read "TOP(Net)::forward",
/// "layer1(Block)::forward", "SELF(Block)::helper", each but the first and the last kind a step down.
std::string torchscript_path() {
  std::string path;
  for (const std::string& frame : torch::jit::currentModuleHierarchy()) {
    const std::string name = frame.substr(0, frame.find_first_of("(:"));
    if (name.empty() || name == "TOP" || name == "SELF" || name == "INSTANCE_NAME_UNKNOWN") {
      continue;
    }
    path += (path.empty() ? "" : ".") + name;
  }
  return path;
}

std::string current_module() {
  if (const std::string* path = ModuleScope::current()) {
    return *path;
  }
  std::string path = torchscript_path();
  return path.empty() && open_backward ? open_backward->module : path;
}

}  // namespace

CallContext current_context() {
  CallContext context{current_module(), open_attention};
  if (!context.attention && open_backward) {
    context.attention = open_backward->attention;
  }
  return context;
}

void ContextsByNode::remember(const at::RecordFunction& call) {
  if (call.seqNr() >= 0) {
    // A call that made no node leaves its number to the next: the last writer is the one that made it.
    contexts_[{call.threadId(), call.seqNr()}] = current_context();
  }
}

std::optional<CallContext> ContextsByNode::find(const at::RecordFunction& node) const {
  const auto found = contexts_.find({node.forwardThreadId(), node.seqNr()});
  return found == contexts_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace flopmark
