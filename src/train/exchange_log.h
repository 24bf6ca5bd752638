#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "measure/host_marker.h"
#include "measure/step.h"

namespace flopmark {

/// When the collectives of each step of a block began and ended: host clock reads on a CPU, events in the
/// streams on a GPU. Allocates in reserve() only.
class ExchangeLog {
 public:
  explicit ExchangeLog(const torch::Device& device);

  /// Forgets everything; room for `steps` steps with so many collectives each. More of them are not noted.
  void reserve(int64_t steps, int64_t collectives);
  void begin_step();
  void end_step();
  /// A collective of this step begins; in_update: it follows backward. Gives what end_collective wants.
  size_t begin_collective(bool in_update = false);
  /// From any thread, on the stream that has waited for the collective.
  void end_collective(size_t collective);
  /// The step waits for an earlier collective, or for one that is not noted, before it goes on; every begin
  /// has its end.
  void begin_wait();
  void end_wait();
  int64_t collectives_in_step() const;  ///< begun so far, noted or not

  /// Of the first `steps` steps; the device has been synchronized. What a step lacks is 0 in it.
  struct Times {
    /// From the step's begin until the last collective of backward began, and from the end of those to the
    /// step's end; without waits and the collectives of the update. 0 without collectives in backward.
    std::vector<double> compute_s;
    std::vector<double> total_s;  ///< inside collectives: the union of their times
    /// What of it nothing hides, in backward: from the begin of its last one, when all gradients were there,
    /// to the end of them all, and waits before; and in the update.
    std::vector<double> in_backward_s, in_update_s;
  };
  Times read(int64_t steps) const;

 private:
  struct Step {
    int64_t begun = 0, begun_in_backward = 0, noted = 0, waits = 0;
    bool ended = false;
  };
  size_t mark_of(size_t step, size_t which) const;
  double total_s(size_t step) const;
  double end_s(size_t step, int64_t from, int64_t to) const;
  double waited_s(size_t step, double from_s, double to_s) const;
  double begin_s(size_t step, int64_t collective) const;
  double after_backward_s(size_t step, double in_update_s) const;
  size_t marks_per_step() const;
  size_t wait_mark(int64_t wait) const;

  SteadyClock clock_;
  std::unique_ptr<Marker> marker_;
  size_t collectives_ = 0;
  std::vector<Step> steps_;
  size_t next_ = 0;  ///< steps begun
};

}  // namespace flopmark
