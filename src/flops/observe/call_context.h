#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "flops/rules.h"

namespace flopmark {

/// What surrounds a call: where in the model it is, and the attention it is part of.
struct CallContext {
  std::string module;  ///< path; empty outside any module
  std::optional<AttentionScope> attention;
};

/// The attention that this thread is inside of, if any. Set by the observer around the operator's call.
extern thread_local std::optional<AttentionScope> open_attention;
/// The context of the forward call whose backward this thread runs, if known.
extern thread_local std::optional<CallContext> open_backward;

/// What surrounds a call of this thread now: the innermost ModuleScope, or the module that TorchScript runs,
/// or, in backward, the module whose forward it belongs to.
CallContext current_context();

/// Contexts of forward calls, found again from their autograd nodes: both carry the thread and the sequence
/// number that autograd gave them.
class ContextsByNode {
 public:
  /// Notes the present context under the call's number; a call without one is not differentiated.
  void remember(const at::RecordFunction& call);
  /// Of the call whose node runs; absent for one that was never observed, such as a custom function's.
  std::optional<CallContext> find(const at::RecordFunction& node) const;

 private:
  std::map<std::pair<uint64_t, int64_t>, CallContext> contexts_;
};

}  // namespace flopmark
