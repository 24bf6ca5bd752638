#include "compare/launch_summary.h"

#include "stats/quantile.h"

namespace flopmark {

const char* to_text(Summary summary) {
  switch (summary) {
    case Summary::throughput:
      return "throughput";
    case Summary::typical:
      return "typical";
    case Summary::floor:
      return "floor";
  }
  return "throughput";
}

const char* step_time_name(Summary summary) {
  switch (summary) {
    case Summary::throughput:
      return "mean step time";
    case Summary::typical:
      return "median step time";
    case Summary::floor:
      return "10 % quantile of the steps";
  }
  return "mean step time";
}

double summarize_times(const std::vector<double>& times_s, Summary summary) {
  switch (summary) {
    case Summary::throughput:
      return mean(times_s);
    case Summary::typical:
      return median(times_s);
    case Summary::floor:
      return quantile(times_s, 0.1);
  }
  return mean(times_s);
}

}  // namespace flopmark
