// Runs training steps of a config on request: reads a count from standard input, runs that many steps through
// flopmark's own loop, answers with their mean time in seconds, the last loss, and, with --memory, the most bytes
// that tensors on the host held during them (0 without). benchmarks/python takes turns between this and Python.
//
//   step_server CONFIG [--memory]
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string_view>

#include "measure/host_marker.h"
#include "measure/step_loop.h"
#include "train/device_marker.h"
#include "worker/job.h"

namespace {

/// What the host's allocator reports to a profiler.
struct TensorMemory : c10::MemoryReportingInfoBase {
  void reportMemoryUsage(void*, int64_t bytes, size_t, size_t, c10::Device device) override {
    if (!device.is_cpu()) return;
    now_bytes += bytes;
    peak_bytes = std::max(peak_bytes, now_bytes);
  }
  bool memoryProfilingEnabled() const override { return true; }

  int64_t now_bytes = 0, peak_bytes = 0;
};

}  // namespace

int main(int argc, char** argv) {
  using namespace flopmark;
  const bool memory_asked = argc == 3 && std::string_view(argv[2]) == "--memory";
  if (argc != 2 && !memory_asked) {
    std::cerr << "usage: step_server CONFIG [--memory]\n";
    return 200;
  }
  const auto memory = std::make_shared<TensorMemory>();
  const c10::DebugInfoGuard reporting(c10::DebugInfoKind::PROFILER_STATE, memory_asked ? memory : nullptr);
  const RunConfig config = complete_config(load_config(argv[1]));
  Job job = make_job(config);
  const auto step = make_step(job, config);
  SteadyClock clock;
  const auto marker = make_marker(job.device, clock);
  LoopState state;
  int64_t steps = 0;
  while (std::cin >> steps) {
    memory->peak_bytes = memory->now_bytes;
    const BlockSamples block = run_block(
        *step, *marker, clock, {.steps = steps, .micro_batches = config.train.gradient_accumulation}, state);
    std::cout << block.wall_s / static_cast<double>(block.steps) << ' ' << block.losses.back() << ' ' << memory->peak_bytes
              << std::endl;
  }
}
