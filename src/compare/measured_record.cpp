#include "compare/measured_record.h"

#include <fmt/format.h>

#include <cmath>

#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr double kSameMean = 0.01;  // block means and the mean step time are of the same steps
constexpr double kSameTotal = 2.0;  // times this: wall clock, steps and throughput belong together
constexpr double kLongestReading_s = 3600;
constexpr size_t kShownText = 400;
constexpr int64_t kMostSteps = 1'000'000'000'000;  // decades of them

[[noreturn]] void refuse_record(const std::string& source, const std::string& why) {
  throw baseline_error(fmt::format("{}: nothing to judge by: {}; measure it again", source, why));
}

std::string status_text(const RunRecord& record) {
  if (record.failure) {
    return fmt::format("its run failed: {} in phase {}: {}", record.failure->kind, record.failure->phase,
                       record.failure->text.substr(0, kShownText));
  }
  if (record.status == "incomplete") return "its run was interrupted";
  if (record.status == "invalid") return "it is marked invalid (MFU or HFU above 100 %)";
  return "its status is " + record.status;
}

void check_launch(const Repeat& repeat, size_t number, const std::string& source) {
  if (repeat.steps <= 0) refuse_record(source, fmt::format("launch {} has no timed step", number));
  if (repeat.steps > kMostSteps) {
    refuse_record(source,
                  fmt::format("launch {} has {} timed steps, which nobody waited for", number, repeat.steps));
  }
  if (repeat.block_means_s.empty()) {
    refuse_record(source, fmt::format("launch {} has no step times (block_means_s)", number));
  }
  for (const double mean_s : repeat.block_means_s) {
    if (mean_s > 0 && std::isfinite(mean_s)) continue;
    refuse_record(source, fmt::format("launch {} has a step time of {} s", number, mean_s));
  }
}

/// Sum of a launch's step times: blocks are as equal in length as can be.
double steps_total_s(const Repeat& repeat) {
  const auto blocks = static_cast<int64_t>(repeat.block_means_s.size());
  double total_s = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t length = (block + 1) * repeat.steps / blocks - block * repeat.steps / blocks;
    total_s += static_cast<double>(length) * repeat.block_means_s[static_cast<size_t>(block)];
  }
  return total_s;
}

bool are_close(double a, double b, double factor) {
  return a <= b * factor && b <= a * factor;
}

void check_agreement(const RunRecord& record, const std::string& source) {
  double total_s = 0, wall_s = 0, steps = 0, samples = 0;
  for (const Repeat& repeat : record.repeats) {
    total_s += steps_total_s(repeat);
    wall_s += repeat.wall_s;
    steps += static_cast<double>(repeat.steps);
    samples += static_cast<double>(repeat.samples);
  }
  if (record.metrics.step_s && !are_close(record.metrics.step_s->mean, total_s / steps, 1 + kSameMean)) {
    refuse_record(source,
                  fmt::format("it contradicts itself: metrics.step_s.mean is {} s, its launches' steps "
                              "average {} s",
                              record.metrics.step_s->mean, total_s / steps));
  }
  if (!are_close(wall_s, total_s, kSameTotal)) {
    refuse_record(source, fmt::format("it contradicts itself: wall_s adds up to {} s, the steps to {} s",
                                      wall_s, total_s));
  }
  const auto rate = record.metrics.values.find("samples_per_s");
  const bool has_rate = rate != record.metrics.values.end() && rate->second && samples > 0;
  if (has_rate && !are_close(*rate->second, samples / total_s, kSameTotal)) {
    refuse_record(source, fmt::format("it contradicts itself: samples_per_s is {}, its launches' samples and "
                                      "steps make {}",
                                      *rate->second, samples / total_s));
  }
}

/// No figure of a run can be negative, and no device does more than its peak. One that is not a number was
/// not measured.
void check_figures(const RunRecord& record, const std::string& source) {
  for (const auto& [key, value] : record.metrics.values) {
    const bool is_utilization = key.starts_with("mfu_") || key.starts_with("hfu_");
    if (!value || std::isnan(*value) || (*value >= 0 && (!is_utilization || *value <= 1))) continue;
    refuse_record(source, fmt::format("metrics.{} is {}, which no run can have", key, *value));
  }
  if (record.parameters.value_or(0) < 0) {
    refuse_record(source, fmt::format("parameters is {}, which no model can have", *record.parameters));
  }
}

void check_ruler(const RunRecord& record, const std::string& source) {
  if (!record.ruler) return;
  for (const auto* readings_s : {&record.ruler->matmul_s, &record.ruler->copy_s}) {
    for (const double reading_s : *readings_s) {
      if (reading_s > 0 && reading_s <= kLongestReading_s) continue;
      refuse_record(source, fmt::format("its ruler has a reading of {} s", reading_s));
    }
  }
}

}  // namespace

void require_measured(const RunRecord& record, const std::string& source, Side side) {
  if (record.status != "ok") {
    const std::string text = fmt::format("{}: not measured: {}", source, status_text(record));
    throw side == Side::candidate ? judge_error(text) : baseline_error(text);
  }
  if (record.repeats.empty()) refuse_record(source, "it has no launch");
  for (size_t i = 0; i < record.repeats.size(); ++i) check_launch(record.repeats[i], i + 1, source);
  check_agreement(record, source);
  check_figures(record, source);
  check_ruler(record, source);
}

std::vector<double> launch_logs(const RunRecord& record, Summary summary) {
  std::vector<double> logs;
  for (const Repeat& repeat : record.repeats) {
    logs.push_back(std::log(summarize_times(repeat.block_means_s, summary)));
  }
  return logs;
}

}  // namespace flopmark
