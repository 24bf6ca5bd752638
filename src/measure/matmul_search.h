#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "measure/matmul_rate.h"
#include "measure/step.h"

namespace flopmark {

/// What is timed. The real one is in src/worker, a fake in tests/fakes.
class MatmulKernel {
 public:
  virtual ~MatmulKernel() = default;
  /// Makes operands of this shape; whatever must be allocated is allocated here.
  virtual void prepare(const std::string& precision, const MatmulShape& shape) = 0;
  /// `calls` products one after the other; returns when all are done.
  virtual void run(int64_t calls) = 0;
};

struct MatmulSearchOptions {
  std::vector<std::string> precisions;
  double seconds = 40;       ///< of all precisions together, shared equally
  double block_s = 0.2;      ///< the least one block lasts
  int64_t best_blocks = 15;  ///< of the best shape, at least 5, fewer if the time is up
};

/// The shapes tried, small ones first: squares and tall, as linear layers of small and large models have
/// them.
const std::vector<MatmulShape>& matmul_shapes();

/// Per precision: one warm-up call and one block of every shape (one that would take more than a quarter of
/// the precision's time is left out), then blocks of the best one until there are enough or its time is up.
/// The rate is the median of these, so one lucky block does not decide. Sets `progress` to the number of
/// blocks timed so far. Ends early, without the precision it was in, when `stop` is set.
std::vector<MatmulRate> search_matmul_rates(MatmulKernel& kernel, Clock& clock,
                                            const MatmulSearchOptions& options,
                                            std::atomic<int64_t>& progress, const std::atomic<bool>& stop);

}  // namespace flopmark
