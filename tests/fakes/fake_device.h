#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fakes/fake_step.h"

namespace flopmark {

/// A device that works through a queue beside the host, on the host's FakeClock: work starts when both the
/// host has submitted it and the device is free, marks take the time at which the device reaches them, and
/// synchronize() waits.
class FakeDevice : public Marker {
 public:
  explicit FakeDevice(FakeClock& clock) : clock_(clock) {}
  void submit_s(double seconds) { free_ns_ = reached_ns() + std::llround(seconds * 1e9); }

  void reserve(size_t count) override { marks_ns_.assign(count, 0); }
  void mark(size_t index) override { marks_ns_[index] = free_ns_ = reached_ns(); }
  void synchronize() override {
    ++synchronized_;
    clock_.advance_ns(reached_ns() - clock_.peek_ns());
  }
  double elapsed_s(size_t from, size_t to) const override {
    return static_cast<double>(marks_ns_[to] - marks_ns_[from]) * 1e-9;
  }
  int64_t synchronized() const { return synchronized_; }

 private:
  int64_t reached_ns() const { return std::max(free_ns_, clock_.peek_ns()); }

  FakeClock& clock_;
  int64_t free_ns_ = 0;
  int64_t synchronized_ = 0;
  std::vector<int64_t> marks_ns_;
};

/// A step whose forward, backward and update run on a FakeDevice; the host only waits for the loader.
class FakeDeviceStep : public TrainingStep {
 public:
  struct Times {
    double loader_s = 0, forward_s = 0, backward_s = 0, update_s = 0;
  };
  FakeDeviceStep(FakeClock& clock, FakeDevice& device, Times times)
      : clock_(clock), device_(device), times_(times) {}

  void begin_block(int64_t) override { facts_ = {}; }
  void next_batch() override {
    clock_.advance_s(times_.loader_s);
    facts_.data_wait_host_s += times_.loader_s;
  }
  void transfer() override {}
  void forward() override { device_.submit_s(times_.forward_s); }
  void backward() override { device_.submit_s(times_.backward_s); }
  void update() override {
    device_.submit_s(times_.update_s);
    facts_.losses.push_back(1.0);
  }
  BlockFacts end_block() override { return facts_; }
  void keep_batch() override { times_.loader_s = 0; }

 private:
  FakeClock& clock_;
  FakeDevice& device_;
  Times times_;
  BlockFacts facts_;
};

}  // namespace flopmark
