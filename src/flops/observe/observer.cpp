#include "flops/observe/observer.h"

#include <ATen/record_function.h>
#include <c10/core/GradMode.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "flops/flop_tally.h"
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
  enum class Kind { counted, listed, undecided };
  Kind kind = Kind::counted;
  // undecided: counted (or, where its rule could not tell, listed) at its end unless something inside it was
  std::string name = {};
  FlopPart part = FlopPart::forward;
  std::optional<OperatorFlop> flop = {};
  int64_t resolved_before = 0;
  const void* counter = nullptr;
};

/// Counts the calls of all threads; every member is called under the lock of `Active`.
class CallCounter {
 public:
  void enter(FlopObserver::Part part) { part_ = part; }

  std::unique_ptr<at::ObserverContext> start(const at::RecordFunction& function) {
    const std::string name = function.name();
    if (const FlopRule* rule = built_in_rules().find(name)) {
      return start_with_rule(function, *rule);
    }
    if (nesting.inside_listed || !computes_without_rule(name)) {
      return nullptr;
    }
    tally_.list_uncounted(part(), name);
    ++nesting.resolved;
    nesting.inside_listed = true;
    auto open = std::make_unique<OpenCall>();
    open->kind = OpenCall::Kind::listed;
    return open;
  }

  void decide(const OpenCall& open) {
    if (open.flop) {
      tally_.count(open.part, open.name, *open.flop);
    } else if (!nesting.inside_listed) {
      tally_.list_uncounted(open.part, open.name);
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

  std::unique_ptr<at::ObserverContext> start_with_rule(const at::RecordFunction& function,
                                                       const FlopRule& rule) {
    auto open = std::make_unique<OpenCall>();
    open->name = rule.name;
    open->part = part();
    try {
      open->flop = count_call(rule, read_call(function, rule.values_of));
    } catch (const std::invalid_argument&) {
      // sparse, nested or unknown: what it calls may be countable
    }
    if (open->flop && !rule.only_if_undecomposed) {
      tally_.count(open->part, open->name, *open->flop);
      ++nesting.resolved;
      nesting.inside_counted = true;
      return open;
    }
    open->kind = OpenCall::Kind::undecided;
    open->resolved_before = nesting.resolved;
    open->counter = this;
    return open;
  }

  FlopObserver::Part part_ = FlopObserver::Part::forward;
  FlopTally tally_;
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

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function) {
  if (nesting.inside_counted || !function.operator_name()) {
    return nullptr;
  }
  const std::lock_guard lock(active().mutex);
  CallCounter* counter = active().counter;
  if (counter == nullptr) {
    return nullptr;
  }
  try {
    return counter->start(function);
  } catch (...) {
    counter->keep_error(std::current_exception());  // LibTorch would log it and go on
    return nullptr;
  }
}

void on_end(const at::RecordFunction& /*function*/, at::ObserverContext* context) {
  const auto* open = static_cast<const OpenCall*>(context);
  if (open == nullptr) {
    return;
  }
  if (open->kind == OpenCall::Kind::counted) {
    nesting.inside_counted = false;
  } else if (open->kind == OpenCall::Kind::listed) {
    nesting.inside_listed = false;
  } else if (nesting.resolved == open->resolved_before) {
    const std::lock_guard lock(active().mutex);
    CallCounter* counter = active().counter;
    if (counter == nullptr || counter != open->counter) {
      return;
    }
    try {
      counter->decide(*open);
    } catch (...) {
      counter->keep_error(std::current_exception());
    }
  }
}

}  // namespace

struct FlopObserver::State {
  CallCounter counter;
  at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;
};

FlopObserver::FlopObserver() : state_(std::make_unique<State>()) {
  const std::lock_guard lock(active().mutex);
  if (active().counter != nullptr) {
    throw std::logic_error("two FLOP observers at once: end the first before the second begins");
  }
  state_->handle = at::addGlobalCallback(
      at::RecordFunctionCallback(on_start, on_end).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
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
