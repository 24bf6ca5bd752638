#include "train/device_marker.h"

#include <ATen/DeviceAccelerator.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <vector>

#include "measure/host_marker.h"

namespace flopmark {
namespace {

/// Events of any accelerator backend, recorded into the stream that is current in the calling thread.
class EventMarker : public Marker {
 public:
  explicit EventMarker(const torch::Device& device) : device_(device), guard_(device.type()) {}

  void reserve(size_t count) override {
    while (events_.size() < count) {
      events_.emplace_back(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
      events_.back().record(guard_.getStream(device_));  // creates the event now, not in the timed region
    }
  }
  void mark(size_t index) override { events_[index].record(guard_.getStream(device_)); }
  void synchronize() override { at::accelerator::synchronizeDevice(device_.index()); }
  double elapsed_s(size_t from, size_t to) const override {
    return events_[from].elapsedTime(events_[to]) * 1e-3;
  }

 private:
  torch::Device device_;
  c10::impl::VirtualGuardImpl guard_;
  std::vector<c10::Event> events_;
};

}  // namespace

std::unique_ptr<Marker> make_marker(const torch::Device& device, Clock& clock) {
  if (device.is_cpu()) {
    return std::make_unique<HostMarker>(clock);
  }
  return std::make_unique<EventMarker>(device);
}

}  // namespace flopmark
