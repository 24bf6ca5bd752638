#pragma once

#include <array>
#include <vector>

namespace flopmark {

/// What one launch is summed up by. throughput: mean step time, what users pay; typical: the median; floor:
/// the 10 % quantile, the step at its undisturbed speed.
enum class Summary { throughput, typical, floor };
inline constexpr std::array kSummaries{Summary::throughput, Summary::typical, Summary::floor};

/// throughput, typical, floor.
const char* to_text(Summary summary);
/// For people, since more of it is worse: mean step time, median step time, 10 % quantile of the steps.
const char* step_time_name(Summary summary);

/// The summary in the unit of `times_s`, which is not empty.
double summarize_times(const std::vector<double>& times_s, Summary summary);

}  // namespace flopmark
