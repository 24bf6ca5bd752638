#include "compare/difference_text.h"

#include <fmt/format.h>

namespace flopmark {
namespace {

std::string number_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.10g}", *value) : "not measured";
}

}  // namespace

std::string refused_text(const std::vector<EnvironmentDifference>& differences) {
  std::string keys;
  for (const EnvironmentDifference& difference : differences) {
    if (difference.kind != DifferenceClass::not_comparable || difference.allowed) continue;
    keys += (keys.empty() ? "" : ", ") + difference.key;
  }
  return "not the same on both sides: " + keys + "; --allow KEY compares all the same";
}

std::string other_work(const std::vector<MetricComparison>& deterministic) {
  std::string titles;
  for (const MetricComparison& metric : deterministic) {
    if (metric.change == Change::differs) titles += (titles.empty() ? "" : ", ") + metric.title;
  }
  return titles.empty() ? "" : "; but it did other work: " + titles + " not equal";
}

std::vector<std::string> other_work_notes(const std::vector<MetricComparison>& deterministic) {
  std::vector<std::string> notes;
  for (const MetricComparison& metric : deterministic) {
    if (metric.change != Change::differs) continue;
    notes.push_back(fmt::format("not the same work: {} is {} in A, {} in B", metric.title,
                                number_text(metric.a), number_text(metric.b)));
  }
  return notes;
}

}  // namespace flopmark
