#pragma once

#include <optional>
#include <vector>

#include "flopmark/ruler.h"
#include "measure/samples.h"
#include "measure/step.h"

namespace flopmark {

/// What the ruler times. The real one is in src/worker, a fake in tests/fakes. Both calls return when the
/// device is done.
class RulerKernel {
 public:
  virtual ~RulerKernel() = default;
  virtual int64_t matmul_flop() const = 0;  ///< of one product
  virtual int64_t copy_bytes() const = 0;   ///< of one call of copy(), read and written
  virtual void matmul() = 0;
  virtual void copy() = 0;
};

inline constexpr double kRulerWarmup_s = 0.05;
inline constexpr int kRulerRepetitions = 7;

/// One reading, added to `ruler`: products for kRulerWarmup_s untimed, so that clocks and threads are awake,
/// then of each kernel the median of kRulerRepetitions timed calls.
void read_ruler(RulerKernel& kernel, Clock& clock, Ruler& ruler);

/// The readings of all launches, in order; those of other work than the first launch's are left out. Absent
/// if no launch has any.
std::optional<Ruler> merge_rulers(const std::vector<LaunchSamples>& launches);

/// How far readings lie apart: the slowest over the fastest, minus 1. 0 for fewer than two.
double reading_spread(const std::vector<double>& readings_s);

/// Whether either list spreads by over 10 %: that is the change from which stored comparisons doubt that two
/// runs are the same, so within one run the machine must not move by as much.
bool ruler_moved(const Ruler& ruler);

}  // namespace flopmark
