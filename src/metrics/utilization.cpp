#include "metrics/utilization.h"

namespace flopmark {

Utilization utilization_of(const FlopRates& rates, std::optional<double> peak_flop_per_s) {
  if (!peak_flop_per_s) return {};
  Utilization result;
  result.mfu_ratio = rates.model_flop_per_s / *peak_flop_per_s;
  if (rates.hardware_flop_per_s) result.hfu_ratio = *rates.hardware_flop_per_s / *peak_flop_per_s;
  return result;
}

}  // namespace flopmark
