// Runs training steps of a config on request: reads a count from standard input, runs that many steps through
// flopmark's own loop, answers with their mean time in seconds. benchmarks/compare_python takes turns between
// this and its Python twin.
//
//   step_server CONFIG
#include <iostream>

#include "measure/host_marker.h"
#include "measure/step_loop.h"
#include "train/device_marker.h"
#include "worker/job.h"

int main(int argc, char** argv) {
  using namespace flopmark;
  if (argc != 2) {
    std::cerr << "usage: step_server CONFIG\n";
    return 200;
  }
  const RunConfig config = load_config(argv[1]);
  Job job = make_job(config);
  const auto step = make_step(job, config);
  SteadyClock clock;
  const auto marker = make_marker(job.device, clock);
  LoopState state;
  int64_t steps = 0;
  while (std::cin >> steps) {
    const BlockSamples block = run_block(
        *step, *marker, clock, {.steps = steps, .micro_batches = config.train.gradient_accumulation}, state);
    std::cout << block.wall_s / static_cast<double>(block.steps) << ' ' << block.losses.back() << std::endl;
  }
}
