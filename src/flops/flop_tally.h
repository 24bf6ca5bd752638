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

/// The totals of `count` such steps. @throws std::overflow_error if one exceeds int64.
FlopTotals repeated(const FlopTotals& totals, int64_t count);

/// How attention is counted: in full, or half of it where it is causal.
enum class AttentionConvention { full, causal };
/// "full" or "causal". @throws std::invalid_argument for another word.
AttentionConvention attention_convention(const std::string& name);

/// One call with its count.
struct CountedCall {
  FlopPart part = FlopPart::forward;
  std::string name;  ///< aten::mm
  OperatorFlop flop;
  std::string precision = "fp32";
  std::string module = {};  ///< path in the model; empty outside any module
};

/// Adds up calls. Not thread-safe.
class FlopTally {
 public:
  explicit FlopTally(AttentionConvention convention = AttentionConvention::full);
  /// @throws std::overflow_error if a total exceeds int64.
  void count(const CountedCall& call);
  /// An operator that computes and has no rule. In the optimizer it leaves the totals exact.
  void list_uncounted(FlopPart part, const std::string& name);
  /// by_operator, by_precision and by_module leave the optimizer out, so that their sums are the model and
  /// the hardware total.
  FlopTotals totals() const;

 private:
  OperatorFlop by_convention(OperatorFlop flop) const;
  ModuleFlops& module_row(const std::string& path);

  AttentionConvention convention_;
  FlopTotals totals_;
  std::map<std::string, OperatorFlops> by_operator_;
  std::map<std::string, PrecisionFlops> by_precision_;
  std::map<std::string, size_t> module_rows_;  ///< path to row of totals_.by_module
  std::map<std::string, int64_t> uncounted_;
};

}  // namespace flopmark
