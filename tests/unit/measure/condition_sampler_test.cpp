#include "measure/condition_sampler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "fakes/kernel_tree.h"

namespace flopmark {
namespace {

/// Notes which threads read it.
class WatchedDevice : public NvmlDevice {
 public:
  NvmlFacts facts() override { return {}; }
  NvmlReading read() override {
    ++reads;
    if (std::this_thread::get_id() == timed_thread) ++reads_of_timed_thread;
    return {};
  }
  std::optional<size_t> list_processes(std::span<NvmlProcess>) override { return std::nullopt; }

  std::thread::id timed_thread = std::this_thread::get_id();
  std::atomic<int> reads = 0, reads_of_timed_thread = 0;
};

TEST(ConditionSampler, SamplesInAThreadOfItsOwnTenTimesASecondAtMost) {
  const KernelTree tree;
  WatchedDevice device;
  ConditionSampler sampler({.device = &device, .files = tree.files(), .cpus = {0}},
                           std::chrono::milliseconds(1));
  const auto start = std::chrono::steady_clock::now();
  sampler.start();
  while (device.reads < 4) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(device.reads_of_timed_thread, 1) << "only the first one, before the timed steps";
  const Conditions conditions = sampler.finish(10);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(conditions.samples, device.reads);
  EXPECT_LE(device.reads, seconds.count() * 10 + 2);  // one at each end besides
  EXPECT_EQ(device.reads_of_timed_thread, 2);
  EXPECT_GT(*conditions.duration_s, 0.2);
}

TEST(ConditionSampler, EndsWithoutBeingFinished) {
  const KernelTree tree;
  WatchedDevice device;
  {
    ConditionSampler sampler({.device = &device, .files = tree.files(), .cpus = {0}}, std::chrono::hours(1));
    sampler.start();
  }
  EXPECT_EQ(device.reads, 1);
  ConditionSampler unused({.files = tree.files(), .cpus = {0}}, std::chrono::hours(1));
  EXPECT_EQ(unused.finish(1).samples, 0);
}

}  // namespace
}  // namespace flopmark
