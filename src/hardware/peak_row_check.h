#pragma once

#include <string>

#include "hardware/peak_table.h"

namespace flopmark {

/// Whether a row agrees with itself. @throws Error 200 naming `place` and the figures: a peak that falls as
/// the type shrinks within one unit (vector: fp64, fp32; matrix: fp64_tensor, fp32_tensor, tf32, fp16 and
/// bf16, fp8, fp6, fp4; integers exempt), or a peak more than 1 % off SMs x FLOPs per clock x clock that is
/// not listed in check_deviation_percent with that deviation.
void check_peak_row(const PeakRow& row, const std::string& place);

}  // namespace flopmark
