#include "report/metric_table.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "metrics/metrics.h"
#include "report/text_layout.h"
#include "report/units.h"

namespace flopmark {
namespace {

constexpr double kLowRatio = 0.30;
constexpr double kHighRatio = 0.70;

int64_t timed_steps(const RunRecord& record) {
  int64_t steps = 0;
  for (const Repeat& repeat : record.repeats) steps += repeat.steps;
  return steps;
}

std::string interval_note(const StepStatistics& step, const RunRecord& record) {
  const std::string basis = fmt::format("{} in {}", format_counted(timed_steps(record), "step"),
                                        format_counted(std::ssize(record.repeats), "launch", "launches"));
  if (!step.ci95_low || !step.ci95_high) return fmt::format("no interval from {}", basis);
  return fmt::format("95 % interval {} to {}; {}", format_seconds(step.ci95_low),
                     format_seconds(step.ci95_high), basis);
}

void add_step_rows(const RunRecord& record, std::vector<TableRow>& rows) {
  if (!record.metrics.step_s) return;
  const StepStatistics& step = *record.metrics.step_s;
  rows.push_back({"Step time, median", format_seconds(step.median),
                  fmt::format("p10 {}, p90 {}, p99 {}", format_seconds(step.p10), format_seconds(step.p90),
                              format_seconds(step.p99))});
  rows.push_back({"Step time, mean", format_seconds(step.mean), interval_note(step, record)});
}

std::string per_step(const RunRecord& record) {
  return record.environment.device_count == 1 ? " a step" : " a step and device";
}

std::string model_flop_note(const RunRecord& record) {
  if (!record.flops) return "";
  const FlopTotals& flops = *record.flops;
  return fmt::format("{}{}{}: forward {}, backward {}", flops.lower_bound ? "at least " : "",
                     format_flop(flops.model_flop()), per_step(record), format_flop(flops.forward_flop),
                     format_flop(flops.backward_flop));
}

std::string hardware_flop_note(const RunRecord& record) {
  if (!record.flops) return "";
  const FlopTotals& flops = *record.flops;
  const int64_t attention = flops.backward_hardware_flop - flops.backward_flop;
  std::string note = format_flop(flops.hardware_flop()) + per_step(record) + ", as executed";
  if (attention > 0) note += fmt::format("; {} recomputed inside fused attention", format_flop(attention));
  if (flops.recompute_flop > 0)
    note += fmt::format("; {} recomputed blocks", format_flop(flops.recompute_flop));
  return note;
}

std::string peak_text(const RunRecord& record) {
  const Peak& peak = record.peak;
  const int64_t devices = record.environment.device_count;
  const std::string each = devices == 1 ? "" : fmt::format(" of each of {} devices", devices);
  const std::string source = peak.source == "by_hand"    ? "given by hand"
                             : peak.source == "measured" ? "measured"
                                                         : "from the " + printable(peak.source);
  const std::string derivation = peak.derivation ? " (" + printable(*peak.derivation) + ")" : "";
  return fmt::format("of {} dense {}{}, {}{}", format_flop_per_s(peak.flop_per_s), printable(peak.precision),
                     each, source, derivation);
}

std::string hint(double ratio, const Peak& peak) {
  if (ratio > 1 && peak.source == "measured")
    return "; above 100 % is impossible: the device was slower when its peak was measured; measure it again "
           "with flopmark peak --measure";
  if (ratio > 1)
    return "; above 100 % is impossible: check the peak, and that it is of this device and precision";
  if (ratio > kHighRatio && peak.source != "measured")
    return "; above 70 % is usually too good to be true: check the peak and the FLOPs";
  if (ratio < kLowRatio) {
    return "; below 30 % usually means a bottleneck (data, small kernels, memory traffic); 40-60 % is "
           "healthy on a GPU";
  }
  return "";
}

std::string mfu_note(const RunRecord& record, std::optional<double> value) {
  if (value) return peak_text(record) + hint(*value, record.peak);
  if (record.peak.flop_per_s) return "not measured";
  const std::string reason =
      record.peak.reason.value_or("no peak is known; peak.flop_per_s gives it by hand");
  return printable(reason);
}

std::string hfu_note(const RunRecord& record, std::optional<double> value) {
  if (!value) return "as for MFU";
  return "as MFU, from what was executed" + std::string(*value > 1 ? hint(*value, record.peak) : "");
}

/// What the loader takes of a step, by waiting or by cores that it keeps busy. Noise may put the cached pass
/// behind.
std::string loader_note(const RunRecord& record, std::optional<double> ratio) {
  if (!ratio || !record.metrics.step_s) return "";
  const double step_s = record.metrics.step_s->mean;
  const double cost_s = step_s - step_s / *ratio;
  if (cost_s <= 0) return "the loader costs nothing that could be measured";
  return fmt::format("the loader costs {} of a step ({})", format_seconds(cost_s),
                     format_share(cost_s / step_s));
}

std::string host_peak_note(const RunRecord& record, std::optional<double>) {
  return record.ranks.empty() ? "resident peak of the process" : "resident peak of the largest rank";
}

std::string communication_note(const RunRecord&, std::optional<double>) {
  return "of the step inside collectives, mean of the ranks, hidden behind backward or not";
}

std::string exposed_note(const RunRecord&, std::optional<double>) {
  return "of the step, from further steps with and without the exchange";
}

using Note = std::string (*)(const RunRecord&, std::optional<double>);

/// What a metric rests on, where the table can say so in a line.
const std::map<std::string, Note>& notes() {
  static const std::map<std::string, Note> kNotes{
      {"model_flop_per_s",
       [](const RunRecord& record, std::optional<double>) { return model_flop_note(record); }},
      {"hardware_flop_per_s",
       [](const RunRecord& record, std::optional<double>) { return hardware_flop_note(record); }},
      {"mfu_ratio", mfu_note},
      {"hfu_ratio", hfu_note},
      {"hfu_recompute_only_ratio",
       [](const RunRecord&, std::optional<double>) -> std::string {
         return "without what fused attention recomputes, as published tables have it";
       }},
      {"host_peak_bytes", host_peak_note},
      {"communication_ratio", communication_note},
      {"communication_exposed_ratio", exposed_note},
      {"energy_per_step_j",
       [](const RunRecord&, std::optional<double>) -> std::string {
         return "of the whole device, by its own counter";
       }},
      {"step_cached_s",
       [](const RunRecord&, std::optional<double>) -> std::string {
         return "mean of a second pass on one batch, loader at rest";
       }},
      {"step_to_cached_ratio", loader_note},
      {"data_wait_ratio",
       [](const RunRecord&, std::optional<double>) -> std::string {
         return "of the step, blocked on the loader";
       }},
  };
  return kNotes;
}

/// Unknown metrics are left out, but for MFU and HFU, whose absence needs its reason; per-device figures only
/// where there are several devices.
bool is_shown(const MetricRow& row, std::optional<double> value, const RunRecord& record) {
  const std::string key = row.key;
  if (key.ends_with("_per_device") && record.environment.device_count == 1) return false;
  return value || key == "mfu_ratio" || key == "hfu_ratio";
}

void add_metric_rows(const RunRecord& record, std::vector<TableRow>& rows) {
  if (record.metrics.values.empty()) return;
  for (const MetricRow& row : metric_rows()) {
    const auto found = record.metrics.values.find(row.key);
    const std::optional<double> value = found == record.metrics.values.end() ? std::nullopt : found->second;
    if (!is_shown(row, value, record)) continue;
    const auto note = notes().find(row.key);
    rows.push_back({row.title, format_metric(row.unit, value),
                    note == notes().end() ? std::string() : note->second(record, value)});
  }
}

void add_phase_row(const RunRecord& record, std::vector<TableRow>& rows) {
  if (!record.phases) return;
  const Phases& phases = *record.phases;
  const std::vector<std::pair<const char*, double>> parts{
      {"data", phases.data_s},
      {"transfer", phases.transfer_s},
      {"forward", phases.forward_s},
      {"backward", phases.backward_s},
      {"exposed communication", phases.communication_exposed_s},
      {"optimizer", phases.optimizer_s},
      {"other", phases.other_s}};
  double step_s = 0;
  for (const auto& part : parts) step_s += part.second;
  if (!(step_s > 0)) return;
  std::string note;
  for (const auto& [name, seconds] : parts) {
    if (seconds == 0) continue;
    note += fmt::format("{}{} {}", note.empty() ? "" : ", ", name, format_share(seconds / step_s));
  }
  rows.push_back({"Phases of a step", "", note});
}

void add_loss_row(const RunRecord& record, std::vector<TableRow>& rows) {
  if (record.repeats.empty() || !record.repeats.front().loss_first || !record.repeats.front().loss_last)
    return;
  const Repeat& first = record.repeats.front();
  rows.push_back({"Loss", fmt::format("{:.4f}", *first.loss_last),
                  fmt::format("last timed step of launch 1; first {:.4f}", *first.loss_first)});
}

void add_warmup_row(const RunRecord& record, std::vector<TableRow>& rows) {
  if (!record.warmup) return;
  const WarmupSummary& warmup = *record.warmup;
  rows.push_back({"Warm-up", format_counted(warmup.steps, "step"),
                  fmt::format("discarded, {}; first step {}; {}", warmup.steady ? "steady" : "NOT STEADY",
                              format_seconds(warmup.first_step_s), printable(warmup.reason))});
}

}  // namespace

std::string metric_table(const RunRecord& record) {
  std::vector<TableRow> rows;
  add_step_rows(record, rows);
  add_metric_rows(record, rows);
  add_phase_row(record, rows);
  add_loss_row(record, rows);
  add_warmup_row(record, rows);
  return format_table(rows);
}

std::string format_metric(Unit unit, std::optional<double> value) {
  switch (unit) {
    case Unit::seconds:
      return format_seconds(value);
    case Unit::per_second:
      return format_rate(value);
    case Unit::flop_per_second:
      return format_flop_per_s(value);
    case Unit::ratio:
      return format_ratio(value);
    case Unit::bytes:
      return format_bytes(value);
    case Unit::joules:
      return format_energy(value);
  }
  return format_rate(value);
}

}  // namespace flopmark
