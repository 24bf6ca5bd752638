#include "measure/matmul_search.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "stats/quantile.h"

namespace flopmark {
namespace {

constexpr int64_t kLeastBlocks = 5;
constexpr int64_t kMostCalls = 1'000'000;
constexpr double kMostOfTime = 0.25;  // that one shape may take of its precision's time

/// The search of one precision.
class PrecisionSearch {
 public:
  PrecisionSearch(MatmulKernel& kernel, Clock& clock, const MatmulSearchOptions& options,
                  std::atomic<int64_t>& progress, const std::atomic<bool>& stop)
      : kernel_(kernel),
        clock_(clock),
        options_(options),
        progress_(progress),
        stop_(stop),
        begin_ns_(clock.now_ns()),
        share_s_(options.seconds / static_cast<double>(options.precisions.size())) {}

  std::optional<MatmulRate> run(const std::string& precision) {
    try_shapes(precision);
    if (stop_.load() || !(best_flop_per_s_ > 0)) return std::nullopt;
    prepare(precision, best_);
    std::vector<double> rates;
    MatmulRate result{.precision = precision, .shape = best_};
    while (!stop_.load() && std::ssize(rates) < options_.best_blocks) {
      if (std::ssize(rates) >= kLeastBlocks && elapsed_s() > share_s_) break;
      const double block_s = time_block();
      result.timed_s += block_s;
      rates.push_back(static_cast<double>(calls_) * best_.flop() / block_s);
    }
    if (rates.empty()) return std::nullopt;
    result.flop_per_s = median(rates);
    result.spread_ratio = quantile(rates, 0.9) / quantile(rates, 0.1);
    result.blocks = std::ssize(rates);
    return result;
  }

 private:
  void try_shapes(const std::string& precision) {
    for (const MatmulShape& shape : matmul_shapes()) {
      if (stop_.load()) return;
      if (best_flop_per_s_ > 0 && expected_s(shape) > kMostOfTime * share_s_) continue;
      if (best_flop_per_s_ > 0 && elapsed_s() > share_s_ / 2) return;
      prepare(precision, shape);
      const double flop_per_s = static_cast<double>(calls_) * shape.flop() / time_block();
      if (flop_per_s > best_flop_per_s_) {
        best_flop_per_s_ = flop_per_s;
        best_ = shape;
      }
    }
  }

  /// Warm-up and one block at the best rate so far.
  double expected_s(const MatmulShape& shape) const {
    const double call_s = shape.flop() / best_flop_per_s_;
    return 2 * call_s + std::max(call_s, options_.block_s);
  }

  /// Operands, a first call that is not timed (it may compile or allocate), and how many calls fill a block.
  void prepare(const std::string& precision, const MatmulShape& shape) {
    kernel_.prepare(precision, shape);
    kernel_.run(1);
    calls_ = 1;
    const double call_s = time_block();
    calls_ = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(options_.block_s / call_s)), 1, kMostCalls);
  }

  /// Runs a block; one that turned out too short is repeated with more calls.
  double time_block() {
    for (;;) {
      const int64_t begin_ns = clock_.now_ns();
      kernel_.run(calls_);
      // A clock too coarse to see the block must not make its rate infinite.
      const double block_s = static_cast<double>(std::max<int64_t>(1, clock_.now_ns() - begin_ns)) * 1e-9;
      ++progress_;
      if (calls_ == 1 || calls_ >= kMostCalls || block_s >= options_.block_s / 2) return block_s;
      calls_ =
          std::max(calls_ + 1,
                   static_cast<int64_t>(std::ceil(static_cast<double>(calls_) * options_.block_s / block_s)));
    }
  }

  double elapsed_s() { return static_cast<double>(clock_.now_ns() - begin_ns_) * 1e-9; }

  MatmulKernel& kernel_;
  Clock& clock_;
  const MatmulSearchOptions& options_;
  std::atomic<int64_t>& progress_;
  const std::atomic<bool>& stop_;
  const int64_t begin_ns_;
  const double share_s_;
  int64_t calls_ = 1;
  double best_flop_per_s_ = 0;
  MatmulShape best_;
};

}  // namespace

const std::vector<MatmulShape>& matmul_shapes() {
  static const std::vector<MatmulShape> kShapes = {
      {512, 512, 512},    {4096, 512, 512},   {1024, 1024, 1024},  {8192, 1024, 1024}, {2048, 2048, 2048},
      {2048, 8192, 2048}, {4096, 4096, 4096}, {16384, 4096, 4096}, {8192, 8192, 8192}, {16384, 16384, 16384}};
  return kShapes;
}

std::vector<MatmulRate> search_matmul_rates(MatmulKernel& kernel, Clock& clock,
                                            const MatmulSearchOptions& options,
                                            std::atomic<int64_t>& progress, const std::atomic<bool>& stop) {
  std::vector<MatmulRate> rates;
  for (const std::string& precision : options.precisions) {
    PrecisionSearch search(kernel, clock, options, progress, stop);
    if (auto rate = search.run(precision)) rates.push_back(std::move(*rate));
  }
  return rates;
}

}  // namespace flopmark
