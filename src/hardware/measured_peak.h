#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flopmark {

/// The best sustained rate of a matrix product that `flopmark peak --measure` found on a device.
struct MeasuredPeak {
  std::string device;              ///< exact name, as a run records it
  std::optional<int64_t> threads;  ///< of a CPU; absent for a GPU
  std::string precision;           ///< fp32, tf32, bf16, fp16
  double flop_per_s = 0;           ///< median of the best shape's blocks
  double spread_ratio = 1;         ///< p90 / p10 of those blocks
  int64_t m = 0, n = 0, k = 0;     ///< the best shape: [m, k] x [k, n], 2 m n k FLOP
  int64_t blocks = 0;
  double timed_s = 0;    ///< all blocks of the best shape together
  std::string time;      ///< UTC, ISO 8601
  std::string libtorch;  ///< version
};

/// How it came about, in words: "matmul 2048 x 2048 x 2048 (m x n x k), median of 15 blocks, ...".
std::string derivation_of(const MeasuredPeak& peak);

/// The one of this device, thread count and precision; nullptr if there is none.
const MeasuredPeak* find_measured_peak(const std::vector<MeasuredPeak>& peaks, const std::string& device,
                                       std::optional<int64_t> threads, const std::string& precision);

}  // namespace flopmark
