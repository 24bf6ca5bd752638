// Ranks on each kind of device: threads of this process, over Gloo on a CPU; over NCCL on up to two GPUs, one
// included. scripts/gpu-check runs these.
#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "measure/host_marker.h"
#include "measure/step_loop.h"
#include "train/device_marker.h"
#include "unit/train/rank_threads.h"
#include "worker/exposed_ratio.h"
#include "worker/job.h"

namespace flopmark {
namespace {

class DeviceRanks : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (is_gpu() && at::getNumGPUs() == 0) GTEST_SKIP() << "no CUDA device here";
  }
  static bool is_gpu() { return std::string(GetParam()) == "cuda"; }
  static int64_t ranks() {
    return is_gpu() ? std::min<int64_t>(2, static_cast<int64_t>(at::getNumGPUs())) : 2;
  }
  static RunConfig tiny_config(int64_t rank, const std::string& sharding) {
    const std::string device = is_gpu() ? "cuda:" + std::to_string(rank) : std::string("cpu");
    return load_config(FLOPMARK_SOURCE_DIR "/configs/llama-tiny-cpu.json",
                       {"device=" + device, "data.type=synthetic", "measure.threads=1", "parallel.ranks=2",
                        "parallel.sharding=" + sharding});
  }
  static void run(const std::function<void(RankGroup&)>& body) {
    test::run_ranks(
        ranks(),
        [&](RankGroup& group) {
          const auto device = resolve_device(is_gpu() ? "cuda:" + std::to_string(group.rank()) : "cpu");
          group.connect(is_gpu() ? "nccl" : "gloo", device);
          body(group);
        },
        /*timeout_s=*/60, /*connected=*/false);
  }
};

TEST_P(DeviceRanks, CombineValues) {
  run([](RankGroup& group) {
    const auto own = static_cast<double>(group.rank() + 1);
    EXPECT_EQ(group.combined(own, Combine::max), static_cast<double>(group.ranks()));
    EXPECT_EQ(group.combined(own, Combine::min), 1);
    EXPECT_TRUE(group.all_agree(true));
  });
}

TEST_P(DeviceRanks, TrainAlikeAndTimeTheirExchange) {
  for (const char* sharding : {"none", "zero2"}) {
    run([&](RankGroup& group) {
      const RunConfig config = tiny_config(group.rank(), sharding);
      RankPlace place;
      place.rank = group.rank();
      place.ranks = group.ranks();
      static const LoopState idle;
      Job job = make_job(
          config,
          [](const auto& shape, const auto& options, const auto&) { return make_model(shape, options); },
          idle, place);
      if (is_gpu()) at::accelerator::setDeviceIndex(job.device.index());
      group.broadcast(job.model->parameters());
      const auto parameters = job.model->parameters();
      const auto step = make_step(job, config, &group);
      SteadyClock clock;
      const auto marker = make_marker(resolve_device(config.device), clock);
      LoopState state;
      run_block(*step, *marker, clock, {.steps = 5}, state);
      const BlockSamples block = run_block(*step, *marker, clock, {.steps = 20}, state);
      const ExchangeTimes times = step->exchange_times();
      EXPECT_GT(times.compute_s, 0) << sharding;
      EXPECT_GT(times.total_s, 0) << sharding;
      EXPECT_GE(times.total_s, times.exposed_s * 0.99) << sharding;
      EXPECT_EQ(times.bytes >= step->parameters() * 4, true) << sharding;
      for (const double part_s : block.phase_s[static_cast<size_t>(Phase::communication)])
        EXPECT_GE(part_s, 0);
      const double sum = parameters.front().detach().abs().sum().item<double>();
      EXPECT_EQ(group.combined(sum, Combine::max), group.combined(sum, Combine::min)) << sharding;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Each, DeviceRanks, testing::Values("cpu", "cuda"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace flopmark
