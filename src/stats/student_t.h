#pragma once

#include <cstddef>

namespace flopmark {

/// The t that |T| stays below with probability 0.95, for Student's distribution of `degrees` >= 1 degrees of
/// freedom (12.706 for 1, towards 1.960). Accurate to 1e-9.
double student_t95(size_t degrees);

}  // namespace flopmark
