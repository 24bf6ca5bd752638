#include "hardware/measured_peak.h"

#include <fmt/format.h>

#include <algorithm>

namespace flopmark {

std::string derivation_of(const MeasuredPeak& peak) {
  const std::string threads =
      peak.threads ? fmt::format(", {} {}", *peak.threads, *peak.threads == 1 ? "thread" : "threads") : "";
  return fmt::format(
      "matmul {} x {} x {} (m x n x k), median of {} blocks in {:.2g} s, p90/p10 {:.3f}{}, {}{}", peak.m,
      peak.n, peak.k, peak.blocks, peak.timed_s, peak.spread_ratio, threads, peak.time,
      peak.libtorch.empty() ? "" : ", LibTorch " + peak.libtorch);
}

const MeasuredPeak* find_measured_peak(const std::vector<MeasuredPeak>& peaks, const std::string& device,
                                       std::optional<int64_t> threads, const std::string& precision) {
  const auto found = std::find_if(peaks.begin(), peaks.end(), [&](const MeasuredPeak& peak) {
    return peak.device == device && peak.threads == threads && peak.precision == precision;
  });
  return found == peaks.end() ? nullptr : &*found;
}

}  // namespace flopmark
