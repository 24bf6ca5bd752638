#pragma once

#include <memory>

#include "flopmark/flop_totals.h"
#include "flops/flop_tally.h"

namespace flopmark {

/// Counts the FLOPs of every operator dispatched while it is alive, in any thread: built-in, TorchScript,
/// exported and plug-in models alike. Nested operators count once. One observer at a time (std::logic_error
/// otherwise); not for timed steps. Destroy it when no operator of the counted step runs any more.
class FlopObserver {
 public:
  enum class Part { forward, backward, optimizer };

  struct Options {
    AttentionConvention convention = AttentionConvention::full;
    bool tf32 = false;  ///< products of float32 run as TF32
  };

  explicit FlopObserver(const Options& options);
  FlopObserver() : FlopObserver(Options{}) {}
  ~FlopObserver();
  FlopObserver(const FlopObserver&) = delete;
  FlopObserver& operator=(const FlopObserver&) = delete;

  /// What runs from now on; forward at first. In backward, operators that run with gradients enabled are
  /// recomputation: with create_graph the whole backward is taken for it, and a reversible network's own
  /// re-run under disabled gradients is taken for backward.
  void enter(Part part);
  /// Totals so far; the device need not be synchronized. @throws the first error met while counting, such as
  /// std::overflow_error if a count exceeds int64.
  FlopTotals totals() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flopmark
