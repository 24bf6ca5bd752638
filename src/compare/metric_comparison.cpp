#include "compare/metric_comparison.h"

#include <algorithm>
#include <cmath>

namespace flopmark {
namespace {

constexpr double kTightRatio = 0.01;       // allocators are repeatable
constexpr double kHostMemoryRatio = 0.10;  // the resident peak is not
constexpr double kShareDifference = 0.05;  // of the step
constexpr double kSameLossRatio = 1e-3;    // rounding in another order
constexpr double kRounded = 2e-5;          // baselines have six digits: 25 % of them is 25 %

std::optional<double> value_of(const RunRecord& record, const std::string& key) {
  const auto found = record.metrics.values.find(key);
  const bool known = found != record.metrics.values.end() && found->second && std::isfinite(*found->second);
  return known ? found->second : std::nullopt;
}

std::optional<double> change_between(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b && *a > 0 && *b >= 0 ? std::optional(*b / *a - 1) : std::nullopt;
}

/// `worse_by`: how far the metric moved in its bad direction, in the unit of the bounds.
Change change_of(double worse_by, double same, double beyond) {
  if (worse_by >= beyond - kRounded) return Change::worse;
  if (worse_by <= kRounded - beyond) return Change::better;
  return worse_by < same ? Change::same : Change::unsure;
}

Change change_in_memory(const MetricComparison& metric, double worse_sign) {
  const double tolerance = metric.key == "host_peak_bytes" ? kHostMemoryRatio : kTightRatio;
  if (!metric.change_ratio) return *metric.a == *metric.b ? Change::same : Change::unsure;
  return change_of(worse_sign * *metric.change_ratio, tolerance, tolerance);
}

Change judged(const MetricComparison& metric, const StoredTolerance& throughput) {
  if (!metric.a || !metric.b) return Change::not_measured;
  if (metric.better == Better::neither) return Change::none;
  const double worse_sign = metric.better == Better::lower ? 1 : -1;
  if (metric.unit == Unit::bytes) return change_in_memory(metric, worse_sign);
  if (!follows_step_time(metric))
    return change_of(worse_sign * (*metric.b - *metric.a), kShareDifference, kShareDifference);
  if (!metric.change_ratio || *metric.b == 0) return *metric.a == *metric.b ? Change::same : Change::unsure;
  return change_of(worse_sign * std::log1p(*metric.change_ratio), throughput.same, throughput.slower);
}

MetricComparison step_metric(const RunRecord& a, const RunRecord& b, const StoredTolerance& throughput) {
  MetricComparison metric;
  metric.key = "step_s";
  metric.title = "Step time, mean";
  metric.unit = Unit::seconds;
  metric.better = Better::lower;
  if (a.metrics.step_s) metric.a = a.metrics.step_s->mean;
  if (b.metrics.step_s) metric.b = b.metrics.step_s->mean;
  metric.change_ratio = change_between(metric.a, metric.b);
  metric.change = judged(metric, throughput);
  return metric;
}

MetricComparison equal_metric(const std::string& key, const std::string& title, std::optional<double> a,
                              std::optional<double> b) {
  MetricComparison metric{key, title, Unit::ratio, Better::neither, a, b, change_between(a, b), Change::same};
  if (!a || !b) {
    metric.change = Change::not_measured;
  } else if (*a != *b) {
    metric.change = Change::differs;
  }
  return metric;
}

std::optional<double> flop_of(const RunRecord& record, int64_t (FlopTotals::*flop)() const) {
  return record.flops ? std::optional(static_cast<double>(((*record.flops).*flop)())) : std::nullopt;
}

std::vector<double> first_losses(const RunRecord& record) {
  std::vector<double> losses;
  for (const Repeat& repeat : record.repeats) {
    if (repeat.loss_first && std::isfinite(*repeat.loss_first)) losses.push_back(*repeat.loss_first);
  }
  std::sort(losses.begin(), losses.end());
  return losses;
}

/// Whether the ranges of the launches' first losses meet, give or take rounding. (A launch that warmed up for
/// longer starts from a lower loss, so that one build's launches need not agree with each other.)
bool losses_meet(const std::vector<double>& a, const std::vector<double>& b) {
  const double slack = kSameLossRatio * std::max({std::abs(a.front()), std::abs(a.back()), 1e-12});
  return a.front() <= b.back() + slack && b.front() <= a.back() + slack;
}

MetricComparison loss_metric(const RunRecord& record_a, const RunRecord& record_b) {
  const std::vector<double> a = first_losses(record_a), b = first_losses(record_b);
  MetricComparison metric;
  metric.key = "loss_first";
  metric.title = "First timed loss";
  if (!a.empty()) metric.a = a.back();
  if (!b.empty()) metric.b = b.back();
  metric.change = Change::not_measured;
  if (!metric.a || !metric.b) return metric;
  metric.change_ratio = change_between(metric.a, metric.b);
  const bool same_start =
      record_a.warmup && record_b.warmup ? record_a.warmup->steps == record_b.warmup->steps : true;
  metric.change = losses_meet(a, b) ? Change::same : same_start ? Change::differs : Change::unsure;
  return metric;
}

}  // namespace

bool follows_step_time(const MetricComparison& metric) {
  return metric.unit == Unit::seconds || metric.unit == Unit::per_second ||
         metric.unit == Unit::flop_per_second || metric.key == "mfu_ratio" || metric.key == "hfu_ratio";
}

std::vector<MetricComparison> compare_metrics(const RunRecord& a, const RunRecord& b,
                                              const StoredTolerance& throughput) {
  std::vector<MetricComparison> metrics{step_metric(a, b, throughput)};
  for (const MetricRow& row : metric_rows()) {
    MetricComparison metric{
        row.key, row.title, row.unit, row.better, value_of(a, row.key), value_of(b, row.key), {}, {}};
    if (!metric.a && !metric.b) continue;
    metric.change_ratio = change_between(metric.a, metric.b);
    metric.change = judged(metric, throughput);
    metrics.push_back(metric);
  }
  return metrics;
}

std::vector<MetricComparison> compare_deterministic(const RunRecord& a, const RunRecord& b) {
  const auto parameters = [](const RunRecord& record) {
    return record.parameters ? std::optional(static_cast<double>(*record.parameters)) : std::nullopt;
  };
  return {equal_metric("model_flop", "Model FLOPs of a step", flop_of(a, &FlopTotals::model_flop),
                       flop_of(b, &FlopTotals::model_flop)),
          equal_metric("hardware_flop", "Hardware FLOPs of a step", flop_of(a, &FlopTotals::hardware_flop),
                       flop_of(b, &FlopTotals::hardware_flop)),
          equal_metric("parameters", "Parameters", parameters(a), parameters(b)), loss_metric(a, b)};
}

}  // namespace flopmark
