#pragma once

#include <memory>

#include "flopmark/flop_totals.h"

namespace flopmark {

/// Counts the FLOPs of every operator dispatched while it is alive, in any thread: built-in, TorchScript, exported
/// and plug-in models alike. One at a time; not for timed steps.
class FlopObserver {
 public:
  enum class Part { forward, backward, optimizer };

  FlopObserver();
  ~FlopObserver();
  FlopObserver(const FlopObserver&) = delete;
  FlopObserver& operator=(const FlopObserver&) = delete;

  /// What runs from now on. In backward, operators that run with gradients enabled are recomputation.
  void enter(Part part);
  /// Totals so far; the device need not be synchronized. @throws std::overflow_error if a count exceeds int64.
  FlopTotals totals() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flopmark
