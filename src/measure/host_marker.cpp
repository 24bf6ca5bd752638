#include "measure/host_marker.h"

#include <chrono>

namespace flopmark {

int64_t SteadyClock::now_ns() {
  static_assert(std::chrono::steady_clock::is_steady);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void HostMarker::reserve(size_t count) {
  ns_.assign(count, 0);
}

void HostMarker::mark(size_t index) {
  ns_[index] = clock_.now_ns();
}

double HostMarker::elapsed_s(size_t from, size_t to) const {
  return static_cast<double>(ns_[to] - ns_[from]) * 1e-9;
}

}  // namespace flopmark
