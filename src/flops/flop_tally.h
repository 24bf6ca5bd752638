#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "flopmark/flop_totals.h"
#include "flops/rules.h"

namespace flopmark {

/// What a call belongs to. Recomputation is forward work re-run during backward: it ran, the mathematics
/// needs it once.
enum class FlopPart { forward, backward, recompute, optimizer };

/// Adds up calls. Not thread-safe.
class FlopTally {
 public:
  /// @throws std::overflow_error if a total exceeds int64.
  void count(FlopPart part, const std::string& name, const OperatorFlop& flop);
  /// An operator that computes and has no rule. In the optimizer it leaves the totals exact.
  void list_uncounted(FlopPart part, const std::string& name);
  /// by_operator leaves the optimizer out, so that its sums are the model and the hardware total.
  FlopTotals totals() const;

 private:
  FlopTotals totals_;
  std::map<std::string, OperatorFlops> by_operator_;
  std::map<std::string, int64_t> uncounted_;
};

}  // namespace flopmark
