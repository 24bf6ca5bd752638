#include "flops/observe/observer.h"

#include <ATen/record_function.h>
#include <c10/core/GradMode.h>

#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "flops/flop_tally.h"
#include "flops/observe/call_context.h"
#include "flops/observe/call_reader.h"
#include "flops/rules.h"

namespace flopmark {
namespace {

/// Where a thread is among nested operators: a convolution runs conv2d, convolution, _convolution and the
/// backend's operator one inside the other, and counts once.
struct Nesting {
  bool inside_counted = false;
  bool inside_listed = false;
  int64_t resolved = 0;  ///< calls counted or listed so far
};

thread_local Nesting nesting;

/// A call whose end matters.
struct OpenCall : at::ObserverContext {
  enum class Kind { counted, listed, undecided, attention, backward_node };
  explicit OpenCall(Kind the_kind) : kind(the_kind) {}

  Kind kind;
  // undecided: counted (or, where its rule could not tell, listed) at its end unless something inside it was
  CountedCall call = {};
  bool countable = false;
  int64_t resolved_before = 0;
  const void* counter = nullptr;
  // attention, backward_node: what surrounded the thread before
  std::optional<AttentionScope> attention_before = {};
  std::optional<CallContext> backward_before = {};
};

bool is_attention_composite(std::string_view name) {
  return name == "aten::scaled_dot_product_attention" || name == "aten::_scaled_dot_product_attention_math";
}

/// Counts the calls of all threads; every member is called under the lock of `Active`.
class CallCounter {
 public:
  explicit CallCounter(const FlopObserver::Options& options)
      : float_precision_(options.tf32 ? "tf32" : "fp32"), tally_(options.convention) {}

  void enter(FlopObserver::Part part) { part_ = part; }
  void remember(const at::RecordFunction& function) { contexts_.remember(function); }

  std::unique_ptr<at::ObserverContext> start(const at::RecordFunction& function) {
    const std::string name = function.name();
    if (const FlopRule* rule = built_in_rules().find(name)) {
      return start_with_rule(function, *rule);
    }
    if (is_attention_composite(name)) {
      return start_attention(function);
    }
    if (nesting.inside_listed || !computes_without_rule(name)) {
      return nullptr;
    }
    tally_.list_uncounted(part(), name);
    ++nesting.resolved;
    nesting.inside_listed = true;
    return std::make_unique<OpenCall>(OpenCall::Kind::listed);
  }

  /// What this thread runs until the node's end belongs to the forward call that made it.
  std::unique_ptr<at::ObserverContext> start_node(const at::RecordFunction& node) {
    auto open = std::make_unique<OpenCall>(OpenCall::Kind::backward_node);
    open->backward_before = std::exchange(open_backward, contexts_.find(node));
    return open;
  }

  void decide(const OpenCall& open) {
    if (open.countable) {
      tally_.count(open.call);
    } else if (!nesting.inside_listed) {
      tally_.list_uncounted(open.call.part, open.call.name);
    }
    ++nesting.resolved;
  }

  void keep_error(std::exception_ptr error) {
    if (!first_error_) {
      first_error_ = std::move(error);
    }
  }

  FlopTotals totals() const {
    if (first_error_) {
      std::rethrow_exception(first_error_);
    }
    return tally_.totals();
  }

 private:
  /// In backward, gradients are enabled only where checkpointing runs a forward again.
  FlopPart part() const {
    switch (part_) {
      case FlopObserver::Part::forward:
        return FlopPart::forward;
      case FlopObserver::Part::backward:
        return c10::GradMode::is_enabled() ? FlopPart::recompute : FlopPart::backward;
      case FlopObserver::Part::optimizer:
        return FlopPart::optimizer;
    }
    throw std::logic_error("unknown part of a step");
  }

  static std::unique_ptr<at::ObserverContext> start_attention(const at::RecordFunction& function) {
    auto open = std::make_unique<OpenCall>(OpenCall::Kind::attention);
    open->attention_before = open_attention;
    if (const auto scope = attention_scope(read_call(function, {}))) {
      open_attention = scope;
    }
    return open;
  }

  /// @throws std::invalid_argument if the rule cannot count these arguments.
  void read(const at::RecordFunction& function, const FlopRule& rule, CountedCall& counted) const {
    const CallContext context = current_context();
    counted.module = context.module;
    OperatorCall call = read_call(function, rule.values_of, rule.product_at);
    counted.precision = call.precision == "fp32" ? float_precision_ : call.precision;
    if (context.attention) {
      call = without_padding(std::move(call), rule, *context.attention);
    }
    counted.flop = count_call(rule, call);
    counted.flop.causal = counted.flop.causal || (context.attention && context.attention->causal);
  }

  std::unique_ptr<at::ObserverContext> start_with_rule(const at::RecordFunction& function,
                                                       const FlopRule& rule) {
    auto open = std::make_unique<OpenCall>(OpenCall::Kind::counted);
    open->call.name = rule.name;
    open->call.part = part();
    try {
      read(function, rule, open->call);
      open->countable = true;
    } catch (const std::invalid_argument&) {
      // sparse, nested or unknown: what it calls may be countable
    }
    if (open->countable && !rule.only_if_undecomposed) {
      tally_.count(open->call);
      ++nesting.resolved;
      nesting.inside_counted = true;
      return open;
    }
    open->kind = OpenCall::Kind::undecided;
    open->resolved_before = nesting.resolved;
    open->counter = this;
    return open;
  }

  const std::string float_precision_;
  FlopObserver::Part part_ = FlopObserver::Part::forward;
  FlopTally tally_;
  ContextsByNode contexts_;
  std::exception_ptr first_error_;
};

/// The observer that is alive; callbacks are plain functions, so they find it here.
struct Active {
  std::mutex mutex;
  CallCounter* counter = nullptr;
};

Active& active() {
  static Active instance;
  return instance;
}

std::unique_ptr<at::ObserverContext> start_observed(CallCounter& counter,
                                                    const at::RecordFunction& function) {
  if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
    return counter.start_node(function);
  }
  if (!function.operator_name()) {
    return nullptr;
  }
  counter.remember(function);
  return nesting.inside_counted ? nullptr : counter.start(function);
}

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function) {
  const std::lock_guard lock(active().mutex);
  CallCounter* counter = active().counter;
  if (counter == nullptr) {
    return nullptr;
  }
  try {
    return start_observed(*counter, function);
  } catch (...) {
    counter->keep_error(std::current_exception());  // LibTorch would log it and go on
    return nullptr;
  }
}

void end_undecided(const OpenCall& open) {
  if (nesting.resolved != open.resolved_before) {
    return;
  }
  const std::lock_guard lock(active().mutex);
  CallCounter* counter = active().counter;
  if (counter == nullptr || counter != open.counter) {
    return;
  }
  try {
    counter->decide(open);
  } catch (...) {
    counter->keep_error(std::current_exception());
  }
}

void on_end(const at::RecordFunction& /*function*/, at::ObserverContext* context) {
  auto* open = static_cast<OpenCall*>(context);
  if (open == nullptr) {
    return;
  }
  switch (open->kind) {
    case OpenCall::Kind::counted:
      nesting.inside_counted = false;
      break;
    case OpenCall::Kind::listed:
      nesting.inside_listed = false;
      break;
    case OpenCall::Kind::undecided:
      end_undecided(*open);
      break;
    case OpenCall::Kind::attention:
      open_attention = open->attention_before;
      break;
    case OpenCall::Kind::backward_node:
      open_backward = std::move(open->backward_before);
      break;
  }
}

}  // namespace

struct FlopObserver::State {
  explicit State(const Options& options) : counter(options) {}
  CallCounter counter;
  at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;
};

FlopObserver::FlopObserver(const Options& options) : state_(std::make_unique<State>(options)) {
  const std::lock_guard lock(active().mutex);
  if (active().counter != nullptr) {
    throw std::logic_error("two FLOP observers at once: end the first before the second begins");
  }
  state_->handle =
      at::addGlobalCallback(at::RecordFunctionCallback(on_start, on_end)
                                .needsInputs(true)
                                .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
  active().counter = &state_->counter;
}

FlopObserver::~FlopObserver() {
  at::removeCallback(state_->handle);
  const std::lock_guard lock(active().mutex);
  active().counter = nullptr;
}

void FlopObserver::enter(Part part) {
  const std::lock_guard lock(active().mutex);
  state_->counter.enter(part);
}

FlopTotals FlopObserver::totals() const {
  const std::lock_guard lock(active().mutex);
  return state_->counter.totals();
}

}  // namespace flopmark
