#pragma once

#include <vector>

#include "compare/pair_source.h"
#include "compare/paired_comparison.h"

namespace flopmark {

/// Pairs of real workers: two processes that take turns, or one launch after the other. Each pair has a
/// scratch folder of its own.
class WorkerPairs : public PairSource {
 public:
  /// `comparisons` (their sides) are not owned; the request's workload is an index into them.
  explicit WorkerPairs(const std::vector<PairedComparison>& comparisons) : comparisons_(comparisons) {}
  LaunchPair measure(const PairRequest& request) override;

 private:
  const std::vector<PairedComparison>& comparisons_;
};

}  // namespace flopmark
