// What the loader makes per second, with no model behind it.
//
//   loader_throughput CONFIG [SECONDS [WORKERS ...]]    e.g. loader_throughput pictures.json 5 0 1 2 4
//
// One line per number of workers: samples per second, and per worker. Beside it, a Python loader on the same
// folder: benchmarks/python/loader_python FOLDER SIZE BATCH SECONDS WORKERS ...
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "config/run_config.h"
#include "data/datasets.h"
#include "data/loader.h"
#include "flopmark/error.h"

namespace {

using namespace flopmark;
using SteadyTime = std::chrono::steady_clock;

/// Samples per second, after as many batches as the loader makes ahead.
double samples_per_s(const std::shared_ptr<const Dataset>& dataset, const DataConfig& data, int64_t workers,
                     double seconds) {
  Loader loader(dataset, {.batch_size = data.batch_size,
                          .workers = workers,
                          .prefetch = data.prefetch,
                          .drop_last = data.drop_last,
                          .shuffle = data.shuffle,
                          .seed = data.seed});
  for (int64_t i = 0; i <= data.prefetch; ++i) loader.next();
  int64_t samples = 0;
  const auto start = SteadyTime::now();
  double elapsed_s = 0;
  while (elapsed_s < seconds) {
    samples += loader.next().samples;
    elapsed_s = std::chrono::duration<double>(SteadyTime::now() - start).count();
  }
  return static_cast<double>(samples) / elapsed_s;
}

int measure(int argc, char** argv) {
  const RunConfig config = load_config(argv[1]);
  const double seconds = argc > 2 ? std::atof(argv[2]) : 5;
  std::vector<int64_t> workers;
  for (int i = 3; i < argc; ++i) workers.push_back(std::atoll(argv[i]));
  if (workers.empty()) workers = {config.data.workers};
  const std::shared_ptr<const Dataset> dataset = make_dataset(config);
  for (const int64_t count : workers) {
    const double rate = samples_per_s(dataset, config.data, count, seconds);
    std::printf("workers %lld: %.1f samples/s, %.1f per worker\n", static_cast<long long>(count), rate,
                rate / static_cast<double>(count > 0 ? count : 1));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: loader_throughput CONFIG [SECONDS [WORKERS ...]]\n", stderr);
    return 200;
  }
  try {
    return measure(argc, argv);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
