// One training step on each kind of device: what holds on a CPU must hold on a GPU. scripts/gpu-check runs
// these.
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "flops/closed_form.h"
#include "measure/host_marker.h"
#include "measure/step_loop.h"
#include "train/device_marker.h"
#include "worker/device_facts.h"
#include "worker/job.h"
#include "worker/memory.h"

namespace flopmark {
namespace {

class DeviceStep : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (is_gpu() && at::getNumGPUs() == 0) GTEST_SKIP() << "no CUDA device here";
  }
  /// Process-wide switches of a precision stay as they were for other tests.
  void TearDown() override { apply_precision(TrainConfig{}, torch::kCPU); }

  static bool is_gpu() { return std::string(GetParam()) == "cuda"; }
  static RunConfig tiny_config(const std::vector<std::string>& more = {}) {
    std::vector<std::string> sets = {std::string("device=") + GetParam(), "data.type=synthetic",
                                     "measure.threads=1"};
    sets.insert(sets.end(), more.begin(), more.end());
    return load_config(FLOPMARK_SOURCE_DIR "/configs/llama-tiny-cpu.json", sets);
  }
};

FlopTotals formula_of(const RunConfig& config) {
  return closed_form_flops(
      config.model, {.batch_size = config.data.batch_size, .sequence_length = config.data.sequence_length},
      {.micro_batches = config.train.gradient_accumulation});
}

TEST_P(DeviceStep, CountsWhatTheClosedFormSays) {
  std::vector<const char*> precisions = {"fp32", "bf16", "bf16-mixed", "fp16-mixed"};
  if (is_gpu()) precisions.push_back("tf32");
  for (const char* precision : precisions) {
    const RunConfig config = tiny_config({std::string("train.precision=") + precision});
    Job job = make_job(config);
    const auto step = make_step(job, config);
    const FlopTotals counted = step->count(), formula = formula_of(config);
    EXPECT_EQ(counted.forward_flop, formula.forward_flop) << precision;
    EXPECT_EQ(counted.backward_flop, formula.backward_flop) << precision;
    EXPECT_FALSE(counted.lower_bound) << precision;
    EXPECT_GE(counted.hardware_flop(), counted.model_flop()) << precision;
  }
}

TEST_P(DeviceStep, PhasesAddUpToTheStepAndStepsToTheWallClock) {
  const RunConfig config = tiny_config({"train.gradient_accumulation=2"});
  Job job = make_job(config);
  const torch::Device device = job.device;
  const auto step = make_step(job, config);
  SteadyClock clock;
  const auto marker = make_marker(device, clock);
  LoopState state;
  run_block(*step, *marker, clock, {.steps = 5, .micro_batches = 2}, state);
  const BlockSamples block = run_block(*step, *marker, clock, {.steps = 50, .micro_batches = 2}, state);
  ASSERT_EQ(block.steps, 50);
  double steps_s = 0, phases_s = 0;
  for (const double step_s : block.step_s) steps_s += step_s;
  for (const auto& phase : block.phase_s) phases_s = std::accumulate(phase.begin(), phase.end(), phases_s);
  EXPECT_NEAR(phases_s / steps_s, 1, 0.02);
  EXPECT_LE(steps_s, block.wall_s * 1.02);
  EXPECT_GE(steps_s, block.wall_s * 0.5);  // what precedes the first event on an idle device is in no step
  EXPECT_EQ(block.samples, 50 * 2 * config.data.batch_size);
}

TEST_P(DeviceStep, Learns) {
  const RunConfig config = tiny_config({"train.optimizer.lr=0.01", "train.precision=bf16-mixed"});
  Job job = make_job(config);
  const torch::Device device = job.device;
  const auto step = make_step(job, config);
  SteadyClock clock;
  const auto marker = make_marker(device, clock);
  LoopState state;
  const BlockSamples block = run_block(*step, *marker, clock, {.steps = 60}, state);
  const double untrained = std::log(static_cast<double>(config.model.vocab_size));
  EXPECT_NEAR(block.losses.front(), untrained, 0.5);
  EXPECT_NE(block.losses.front(), block.losses.back());
}

TEST_P(DeviceStep, PeakMemoryHoldsParametersGradientsAndOptimizerState) {
  const RunConfig config = tiny_config();
  Job job = make_job(config);
  MemoryWatch memory(job.device);
  memory.reset();
  const torch::Device device = job.device;
  const auto step = make_step(job, config);
  SteadyClock clock;
  const auto marker = make_marker(device, clock);
  LoopState state;
  run_block(*step, *marker, clock, {.steps = 3}, state);
  const MemorySamples samples = memory.read();
  const int64_t least_bytes = step->parameters() * 4 * 4;  // parameter, gradient, two moments, 4 bytes each
  const auto bytes = is_gpu() ? samples.allocated_bytes : samples.host_bytes;
  ASSERT_TRUE(bytes);
  EXPECT_GE(*bytes, least_bytes);
  if (is_gpu()) {
    EXPECT_GE(samples.reserved_bytes, samples.allocated_bytes);
    EXPECT_GE(samples.device_used_bytes, samples.allocated_bytes);
  }
}

TEST_P(DeviceStep, IsNamedInTheEnvironment) {
  const Environment environment = worker_environment(resolve_device(GetParam()));
  ASSERT_TRUE(environment.device_name);
  EXPECT_FALSE(environment.device_name->empty());
  EXPECT_EQ(environment.sm_count.has_value(), is_gpu());
  EXPECT_EQ(environment.cuda.has_value() && !environment.cuda->empty(), is_gpu());
}

INSTANTIATE_TEST_SUITE_P(Each, DeviceStep, testing::Values("cpu", "cuda"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace flopmark
