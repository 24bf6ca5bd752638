#pragma once

#include <optional>

namespace flopmark {

/// What one device does per second.
struct FlopRates {
  double model_flop_per_s = 0;                  ///< what the mathematics needs; positive
  std::optional<double> hardware_flop_per_s{};  ///< what was executed; absent: not known
};

/// Shares of one device's dense peak; absent where the rate or the peak is not known.
struct Utilization {
  std::optional<double> mfu_ratio, hfu_ratio;

  /// No device does more than its peak: false means that an input is wrong.
  bool is_possible() const { return mfu_ratio.value_or(0) <= 1 && hfu_ratio.value_or(0) <= 1; }
};

/// MFU = model FLOP/s / peak, HFU = hardware FLOP/s / peak, all of one device: Chowdhery et al., "PaLM",
/// 2022, appendix B. `peak_flop_per_s` > 0.
Utilization utilization_of(const FlopRates& rates, std::optional<double> peak_flop_per_s);

}  // namespace flopmark
