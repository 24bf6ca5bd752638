#pragma once

#include <vector>

#include "measure/step.h"

namespace flopmark {

/// std::chrono::steady_clock.
class SteadyClock : public Clock {
 public:
  int64_t now_ns() override;
};

/// Marks that are reads of a host clock.
class HostMarker : public Marker {
 public:
  explicit HostMarker(Clock& clock) : clock_(clock) {}
  void reserve(size_t count) override;
  void mark(size_t index) override;
  void synchronize() override {}
  double elapsed_s(size_t from, size_t to) const override;

 private:
  Clock& clock_;
  std::vector<int64_t> ns_;
};

}  // namespace flopmark
